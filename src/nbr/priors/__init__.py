"""Prior-knowledge distributions: what is assumed of points beside the rules (section 2.4 of the paper)."""

from nbr.priors.base import Prior
from nbr.priors.drawn import Drawn
from nbr.priors.empirical import Empirical
from nbr.priors.independent import Independent, marginals, uniform

__all__ = ["Drawn", "Empirical", "Independent", "Prior", "marginals", "uniform"]
