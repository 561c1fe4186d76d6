"""What a run of the sampler gave, and whether it can be believed."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from latently.infer.factors import Floats
from latently.infer.posterior.diagnostics import effective_sample_size, r_hat, r_hat_of_each

Bools: TypeAlias = NDArray[np.bool_]

_AGREE = 1.01  # r_hat up to which ensembles are said to agree
_LOOSE = 1.1  # the same for single walkers, whose chains are short
_STRAY = 1.5  # the same for the one walker that disagrees most: the largest of hundreds is never close to one
_WORTH = 400  # effective sample size from which R-hat and quantiles mean something


@dataclass(frozen=True, eq=False)
class Chains:
    """What a run of the sampler gave.

    Attributes
    ----------
    draws : ndarray (chains, draws, d)
        Every walker is a chain.
    log_density : ndarray (chains, draws)
        Of each draw.
    r_hat : ndarray (d,)
        Agreement of the ensembles, for each parameter; up to 1.01 is good.
    r_hat_walkers : ndarray (d,)
        Agreement of the single walkers; well above 1.1 some are stuck, as between modes far apart.
    r_hat_each : ndarray (chains, d)
        Agreement of each walker with all others. One stuck walker among hundreds moves no R-hat of them all,
        but its own: above 1.5 it stayed where the others hardly ever are.
    ess_bulk, ess_tail : ndarray (d,)
        Effective sample sizes.
    """

    draws: Floats
    log_density: Floats
    r_hat: Floats
    r_hat_walkers: Floats
    r_hat_each: Floats
    ess_bulk: Floats
    ess_tail: Floats

    @property
    def worth(self) -> float:
        """The smallest effective sample size, of all parameters, in the middle and in the tails."""
        return float(min(self.ess_bulk.min(), self.ess_tail.min()))

    @property
    def strays(self) -> Bools:
        """Which walkers stayed away from all others, (chains,)."""
        return np.asarray(self.r_hat_each.max(axis=1) > _STRAY)

    @property
    def converged(self) -> bool:
        """Whether ensembles and walkers agree, to the last walker, and are worth at least 400 draws."""
        agree = self.r_hat.max() <= _AGREE and self.r_hat_walkers.max() <= _LOOSE
        return bool(agree and not self.strays.any() and self.worth >= _WORTH)

    def flat(self) -> Floats:
        """Give all draws together, (n, d)."""
        return self.draws.reshape(-1, self.draws.shape[-1])


def judged(draws: Floats, log_density: Floats, groups: int) -> Chains:
    """Add the diagnostics to draws (chains, draws, d) of ensembles that lie one after the other."""
    columns = [draws[:, :, j] for j in range(draws.shape[-1])]
    return Chains(
        draws,
        log_density,
        np.array([r_hat(_pooled(c, groups)) for c in columns]),
        np.array([r_hat(c) for c in columns]),
        np.column_stack([r_hat_of_each(c) for c in columns]),
        np.array([effective_sample_size(c, "bulk") for c in columns]),
        np.array([effective_sample_size(c, "tail") for c in columns]),
    )


def _pooled(chains: Floats, groups: int) -> Floats:
    """Put the walkers of each ensemble into one chain, step by step."""
    return chains.reshape(groups, -1, chains.shape[1]).transpose(0, 2, 1).reshape(groups, -1)
