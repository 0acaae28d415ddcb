"""What an engine is fed from: the grades of points that a question is about, with points that attain them."""
