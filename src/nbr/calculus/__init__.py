"""Engines: the expectation over the 2^K worlds of the best grade among some points.

Write r(z) for the K grades of a point z, b for the beliefs, and mu_y(z) for the smallest grade
among the rules present in the world y (equation 3 of the paper). An engine computes, for sets S of points,

    E_Y [ max over z in S of mu_Y(z) ],   Y_i independent, P(Y_i = 1) = b_i.

It sees matrices of grades and knows nothing of variables, names or networks.
"""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
