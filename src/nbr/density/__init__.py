"""Likelihood and sampling of rules combined with a prior."""
