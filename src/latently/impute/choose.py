"""The model behind an imputer that was given none: a mixture, as large as the data warrant."""

from typing import Any

import numpy as np

from latently.cluster import GaussianMixture, Mixture
from latently.data.schema.schema import Schema
from latently.distributions import Gaussian
from latently.distributions.inputs import generator
from latently.impute.search import ROWS_PER_COLUMN, dithered, fit_gaussian
from latently.impute.tables import Table
from latently.learn.engine.protocol import Array
from latently.learn.select.select import select

# Rows that a search for the number of components looks at; the model found is then fitted to all rows.
SEARCH_ROWS = 2000
# Rows that are kept after a fit: parameters are drawn from what these leave open of them.
KEPT_ROWS = 16384


def gaussian_for(X: Array, most: int, criterion: Any, random_state: Any) -> GaussianMixture:
    """Fit a mixture of Gaussians to numbers with missing values, its size and shape chosen on some of the rows."""
    rng = generator(random_state)
    return fit_gaussian(X, some_rows(X, SEARCH_ROWS, rng), most, criterion, rng)


def mixed_for(table: Table, most: int, criterion: Any, random_state: Any) -> Any:
    """Fit a mixture over a table of mixed types, its size chosen on some of its rows."""
    rng = generator(random_state)
    part, grid = some_rows(table.values, SEARCH_ROWS, rng), {"n_components": range(1, most + 1)}
    base = _mixture(table.schema, int(rng.integers(np.iinfo(np.int32).max)))
    numeric = table.schema.where("numeric")
    spread = part.copy()
    spread[:, numeric] = dithered(part[:, numeric], rng)
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


def some_rows(X: Array, most: int, rng: np.random.Generator) -> Array:
    """At most so many rows, drawn at random, in their order."""
    return X if len(X) <= most else X[np.sort(rng.choice(len(X), most, replace=False))]
