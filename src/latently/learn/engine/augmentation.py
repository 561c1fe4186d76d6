"""Data augmentation: chains that draw what is missing given the parameters, then the parameters given all of it."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.sources.chunks import Chunk
from latently.learn.engine.em import em
from latently.learn.engine.protocol import Array, LatentModel, Params
from latently.learn.engine.reduce import single_threaded_blas

# A chain forgets where it was at the rate of the information that is missing: down to exp(-4) in 4 / (1 - rate) steps.
_FORGOTTEN = 4.0
_FEWEST, _MOST = 10, 200
# Share of the rows from which on they are all there: what was fitted may count rows without any value.
_ALL = 0.999
# The mode of a sample is sought until a step raises the log-likelihood by less than this per row.
_SETTLED: dict[str, Any] = {"tol": 1e-8, "max_iter": 200}


def chain(
    step: Callable[[Params], Params], params: Params, n_draws: int, spacing: int, every: int | None = None
) -> Iterator[Params]:
    """Parameters after `spacing` steps, by which the start is forgotten, and then after every `every` or so many."""
    for draw in range(n_draws):
        with single_threaded_blas():
            for _ in range(spacing if draw == 0 or every is None else every):
                params = step(params)
        yield params


def spacing(missing: NDArray[np.bool_], shares: Array) -> int:
    """Steps until a chain has forgotten where it was.

    The information that is left is taken for the share of the rows in which the rarest pair of columns is observed,
    times how sure it is which rows belong to the least certain component. Where nothing is missing, one step forgets.

    Parameters
    ----------
    missing
        (n, d) what is missing.
    shares
        (n, k) responsibilities.

    Examples
    --------
    >>> whole, one = np.zeros((4, 2), dtype=bool), np.ones((4, 1))
    >>> spacing(whole, one), spacing(np.array([[False, True]] * 3 + [[False, False]]), one)
    (1, 16)
    """
    seen = ~missing * 1.0
    pairs = (seen.T @ seen).min() / len(seen)
    sure = (shares**2).sum(axis=0) / np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
    observed = max(float(pairs * sure.min()), _FORGOTTEN / _MOST)
    return max(int(np.ceil(_FORGOTTEN / observed)), _FEWEST) if observed < 1 else 1


def sample_factor(sampled: int, fitted: float) -> float:
    """What deviations of parameters given a sample are multiplied by to become those given all rows."""
    share = sampled / fitted
    return 1.0 if share > _ALL else float(np.sqrt(share))


def mode_on(model: LatentModel[Params, Any], params: Params, X: Array) -> Params:
    """The parameters that are best for some rows, near those given."""
    chunk = Chunk(X)
    return em(model, params, lambda ask: ask(chunk), **_SETTLED).params
