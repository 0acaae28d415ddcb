"""Classifiers whose rules are bodies of evidence about labels, and the proof of their robustness."""
