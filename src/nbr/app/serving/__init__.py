"""`nbr serve`: a page and an API for one model."""
