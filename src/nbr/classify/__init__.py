"""Classifiers whose rules speak about labels, and the proof of their robustness."""
