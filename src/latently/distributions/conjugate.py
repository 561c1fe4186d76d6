"""How probable the parameters of a distribution are beforehand."""

from typing import Any

import numpy as np

from latently.distributions.base import Distribution
from latently.distributions.families.gaussian import Gaussian
from latently.distributions.families.product import Product
from latently.distributions.priors.normal_inverse_wishart import NormalInverseWishart
from latently.distributions.priors.pseudo_rows import PseudoRows


def log_prior(member: Distribution, prior: Any) -> float:
    """Log density of a distribution's parameters under their prior (up to a constant for `PseudoRows`); else zero.

    A prior of one column is that of each column; a `Product` takes one for each of its parts.

    Examples
    --------
    >>> from latently.distributions import Gamma, Poisson
    >>> float(log_prior(Poisson([2.0, 2.0]), Gamma(1.0, 0.5)) - 2 * Gamma(1.0, 0.5).log_prob([[2.0]])[0])
    0.0
    """
    if prior is None:
        return 0.0
    if isinstance(prior, PseudoRows):
        return float(member.log_likelihood(prior.statistics))  # type: ignore[attr-defined]
    if isinstance(member, Product):
        return sum(log_prior(part, own) for (part, _), own in zip(member.parts, prior, strict=True))
    if isinstance(member, Gaussian) and isinstance(prior, NormalInverseWishart):
        row = prior._rows(member.mean, member.covariance)
    else:
        row = np.atleast_1d(getattr(member, member.PARAMETERS[0]))
    return float(np.sum(prior.log_prob(row[:, None] if prior.n_columns == 1 else row[None])))
