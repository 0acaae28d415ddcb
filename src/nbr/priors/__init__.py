"""Prior-knowledge distributions: what is assumed of points beside the rules (section 2.4 of the paper)."""

from nbr.priors.base import Prior
from nbr.priors.columns import Allowed
from nbr.priors.drawn import Drawn
from nbr.priors.empirical import Empirical
from nbr.priors.grouped import Grouped
from nbr.priors.growing import Mixture, auto, relearned, trees
from nbr.priors.independent import Independent, marginals, uniform
from nbr.priors.mixture import Trees
from nbr.priors.search import Kept

__all__ = [
    "Allowed",
    "Drawn",
    "Empirical",
    "Grouped",
    "Independent",
    "Kept",
    "Mixture",
    "Prior",
    "Trees",
    "auto",
    "marginals",
    "relearned",
    "trees",
    "uniform",
]
