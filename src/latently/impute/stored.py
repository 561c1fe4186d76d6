"""A mixture that was found on some rows of a table, fitted to all of them where they are."""

from typing import Any

from sklearn.base import clone

from latently.cluster import GaussianMixture
from latently.data.sources.table_source import TableSource


def refitted(found: Any, source: TableSource) -> Any:
    """Fit a mixture of the same shape to all rows of a source, from where the fit to some of them ended."""
    fresh = clone(found)
    if isinstance(found, GaussianMixture):
        # the prior is worth so many rows, however many there are
        fresh.set_params(reg_covar=found.reg_covar * found.statistics_.rows / source.n_rows)
        start = {"means_init": found.means_, "precisions_init": found.precisions_}
    else:
        start = {"components_init": found.components_}
    plain = fresh.get_params(deep=False)
    fresh.set_params(weights_init=found.weights_, **start)
    return fresh.fit(source).set_params(**plain)
