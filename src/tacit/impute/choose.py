"""The model behind an imputer that was given none: a mixture, as large as the data warrant."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state

from tacit.cluster import GaussianMixture, Mixture
from tacit.data.schema import Schema
from tacit.distributions import Gaussian
from tacit.impute.tables import Table
from tacit.learn.protocol import Array
from tacit.learn.select import select

# Rows that a search for the number of components looks at; the model found is then fitted to all rows.
SEARCH_ROWS = 2000
# Strength of the prior on the covariances, in rows per column: enough to steady tables with few rows.
ROWS_PER_COLUMN = 0.3
# How often the number of components is looked for at most.
ROUNDS = 3
_LONG = {"tol": 1e-3, "max_iter": 1000}


def gaussian_for(X: Array, most: int, criterion: Any, random_state: Any) -> GaussianMixture:
    """Fit a mixture of Gaussians to numbers with holes, its size and shape chosen on complete rows.

    A single Gaussian is fitted first and completes the rows by a draw; mixtures are compared on those, where a
    fit costs little, and the best is the start of a fit to the rows as they are. It completes them better, so
    it is compared with smaller ones again, until it is confirmed.
    """
    rng = check_random_state(random_state)
    part = _some_rows(X, rng)
    model = _gaussian(part).fit(part)
    sizes = range(1, most + 1)
    for _ in range(ROUNDS if most > 1 else 0):
        complete = _dithered(model.impute_draws(part, 1, rng)[0], part, rng)
        best = _search(complete, _gaussian(part), sizes, criterion, rng)
        if _shape(best) == _shape(model):
            break
        model, sizes = _fitted_from(best, part), range(1, best.n_components + 1)
    return model if part is X else _fitted_from(model, X)


def _shape(model: GaussianMixture) -> tuple[int, str]:
    return model.n_components, model.covariance_type


def _fitted_from(start: GaussianMixture, X: Array) -> GaussianMixture:
    fresh = _gaussian(X).set_params(n_components=start.n_components, covariance_type=start.covariance_type)
    plain = fresh.get_params()
    fresh.set_params(weights_init=start.weights_, means_init=start.means_, precisions_init=start.precisions_)
    return fresh.fit(X).set_params(**plain)


def _gaussian(X: Array) -> GaussianMixture:
    seen = float(np.count_nonzero(~np.isnan(X))) / X.shape[1]  # observed rows of an average column
    return GaussianMixture(1, reg_covar=ROWS_PER_COLUMN * X.shape[1] / seen, **_LONG)


def _search(complete: Array, base: Any, sizes: range, criterion: Any, rng: np.random.RandomState) -> Any:
    """Give the best mixture; sizes above three are tried only if three is better than less."""
    seed = rng.randint(np.iinfo(np.int32).max)
    for tried in (sizes[:3], sizes):
        grid = [{"n_components": tried, "covariance_type": ["full"]}]
        if len(tried) > 1:
            grid.append({"n_components": tried[1:], "covariance_type": ["tied"]})
        found = select((base, grid), complete, criterion, warm_start=False, random_state=seed)
        if tried == sizes or found.best["n_components"] < tried[-1]:
            break
    return found.best_model


def _dithered(complete: Array, X: Array, rng: np.random.RandomState) -> Array:
    """Spread each column by its least step: a density would otherwise chase the few values of a coarse one."""
    steps = np.array([_least_step(column[~np.isnan(column)]) for column in X.T])
    return np.asarray(complete + steps * rng.uniform(-0.5, 0.5, size=complete.shape))


def _least_step(values: Array) -> float:
    different = np.unique(values)
    return float(np.diff(different).min()) if len(different) > 1 else 0.0


def mixed_for(table: Table, most: int, criterion: Any, random_state: Any) -> Any:
    """Fit a mixture over a table of mixed types, its size chosen on some of its rows."""
    rng = check_random_state(random_state)
    part, grid = _some_rows(table.values, rng), {"n_components": range(1, most + 1)}
    base = _mixture(table.schema, rng.randint(np.iinfo(np.int32).max))
    numeric = table.schema.where("numeric")
    spread = part.copy()
    spread[:, numeric] = _dithered(part[:, numeric], part[:, numeric], rng)
    best = select((base, grid), table.schema.decode(spread), criterion, warm_start=False).best_model
    plain = base.set_params(n_components=best.n_components).get_params(deep=False)
    base.set_params(weights_init=best.weights_, components_init=best.components_)
    return base.fit(table.raw).set_params(**plain)


def _mixture(schema: Schema, seed: int) -> Mixture:
    numeric = tuple(column.name for column in schema if column.kind == "numeric")
    families = {numeric: Gaussian()} if len(numeric) > 1 else None
    # A strength of 100 is worth one row with the variances of the table.
    key = numeric if len(numeric) > 1 else numeric[0] if numeric else None
    prior = {key: 100 * ROWS_PER_COLUMN * len(numeric)} if numeric else None
    return Mixture(1, schema=schema, families=families, prior=prior, max_iter=1000, random_state=seed)


def _some_rows(X: Array, rng: np.random.RandomState) -> Array:
    return X if len(X) <= SEARCH_ROWS else X[np.sort(rng.choice(len(X), SEARCH_ROWS, replace=False))]
