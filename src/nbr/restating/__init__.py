"""Rules that a network learned, in words: short statements found from what it says of points."""
