"""Attacks on classifiers, and the protocol by which they are measured."""
