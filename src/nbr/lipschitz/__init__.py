"""Networks that never move two inputs apart in L2, an optimiser for them, and sound bounds."""

from nbr.lipschitz.fixed import Fixed
from nbr.lipschitz.layers import Convolution, Dense, GroupSort, MaxMin
from nbr.lipschitz.neighbours import Local, local
from nbr.lipschitz.networks import bound, dense, finish, rounding
from nbr.lipschitz.stiefel import Stiefel

__all__ = [
    "Convolution",
    "Dense",
    "Fixed",
    "GroupSort",
    "Local",
    "MaxMin",
    "Stiefel",
    "bound",
    "dense",
    "finish",
    "local",
    "rounding",
]
