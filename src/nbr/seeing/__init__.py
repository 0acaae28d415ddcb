"""What sensors make of pictures, read together with the rules of a model; proofs of what was read."""
