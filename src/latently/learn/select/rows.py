"""The rows of a search: in memory, or a source of chunks that are judged where they are."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import entr

from latently.data.open import as_source
from latently.data.sources.chunks import Chunk, ChunkSource, is_out_of_core
from latently.data.tables.matrix import has_values
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import reducing
from latently.learn.engine.start import sample_rows

# Rows of a source that are looked at to see where a component can be split.
_SAMPLE = 65536


@dataclass(frozen=True, eq=False)
class SearchRows:
    """What candidates are fitted to, and rows to look at: the same, or a sample of a source."""

    X: Any
    sample: Any

    @property
    def is_source(self) -> bool:
        """Whether the rows come in chunks."""
        return isinstance(self.X, ChunkSource)


def search_rows(X: Any) -> SearchRows:
    """Open what is not in memory, once for all candidates."""
    if not (isinstance(X, ChunkSource) or is_out_of_core(X)):
        return SearchRows(X, X)
    source = as_source(X)
    return SearchRows(source, sample_rows(source, _SAMPLE, np.random.RandomState(0))[0])


def criteria_of(model: Any, names: Sequence[str], X: Any, size: int | None) -> dict[str, float]:
    """Information criteria of a fitted model by name, from its own methods, or summed over the chunks of a source.

    Parameters
    ----------
    model
        Fitted.
    names
        Of "aic", "bic", "icl".
    X
        Rows, or a source.
    size
        Number of parameters of the model, for a source.
    """
    if not isinstance(X, ChunkSource):
        return {name: float(getattr(model, name)(X)) for name in names}
    if size is None or not hasattr(model, "score_samples"):
        raise TypeError(f"{type(model).__name__} cannot be scored on chunks: it has no score_samples or n_parameters_")
    unnamed = copy.copy(model)
    vars(unnamed).pop("feature_names_in_", None)  # chunks are plain arrays
    with reducing(X) as reduce:
        rows, density, entropy = reduce(partial(_terms, unnamed, "icl" in names))
    bic = size * np.log(max(rows, 1)) - 2 * density
    found = {"aic": 2 * size - 2 * density, "bic": bic, "icl": bic + 2 * entropy}
    return {name: float(found[name]) for name in names}


def _terms(model: Any, with_entropy: bool, chunk: Chunk) -> Array:
    """(3,) rows with anything observed, log density, and entropy of the memberships of those rows."""
    observed = has_values(np.asarray(chunk.X))
    entropy = entr(model.predict_proba(chunk.X))[observed].sum() if with_entropy else 0.0
    return np.array([np.count_nonzero(observed), model.score_samples(chunk.X).sum(), entropy])
