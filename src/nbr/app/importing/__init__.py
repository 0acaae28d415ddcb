"""Other people's models, as rules that answer the same."""
