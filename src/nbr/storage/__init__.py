"""Files: models as plain data and tensors, the state of long runs, and writing that is whole or not at all."""
