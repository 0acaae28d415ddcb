"""Likelihood, probability and sampling of rules combined with a prior."""
