"""The model of a table: fitted, its clusters told from mere components, and every row judged by it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from latently.report.study.groups import Separation, separate
from latently.report.study.model import Fitted, fit_model, without
from latently.report.study.prepare import FEW_FAR, Prepared
from latently.report.study.strange import strangeness
from latently.report.study.study import Study

_DOUBTFUL: Final = -9.2  # log of a chance of one in ten thousand
_SAME: Final = 0.95  # from which a column is a label of the clusters


def learn(study: Study, tell: Callable[[str], None]) -> Study:
    """Fit the model of a table and ask it about every row.

    A column that the clusters reproduce almost exactly may be their only reason: it is a label, set aside, and
    clusters are looked for in the other columns.

    Parameters
    ----------
    study
        The table.
    tell
        Called with the name of each part that begins.
    """
    fitted = fit_model(study.prepared)
    tell("clusters")
    separation = _separated(study, fitted)
    if names := _labels(study.prepared, fitted, separation):
        study = replace(study, prepared=study.prepared.set_aside(names))
        fitted = fit_model(study.prepared)
        separation = _separated(study, fitted)
    tell("anomalies")
    return _judged(study, fitted, separation)


def _separated(study: Study, fitted: Fitted) -> Separation:
    return separate(study.prepared, fitted, study.order if study.time else None, study.stretches)


def _labels(prepared: Prepared, fitted: Fitted, separation: Separation) -> list[str]:
    """Columns of classes that are the clusters under another name; none if they are all that the model sees."""
    if len(separation.groups) < 2:
        return []
    X = prepared.values[prepared.sample]
    shares = np.concatenate([fitted.view.ask(X[part]).shares for part in fitted.view.batches(len(X))])
    solutions = [separation.groups] if separation.finer is None else [separation.groups, separation.finer]
    clusters = [np.stack([shares[:, list(g)].sum(axis=1) for g in s], axis=1).argmax(axis=1) for s in solutions]
    found = [prepared.names[j] for j in prepared.coded if max(_same(X[:, j], own) for own in clusters) >= _SAME]
    return found if len(found) < len(prepared.used) else []


def _same(codes: NDArray[np.float64], clusters: NDArray[np.intp]) -> float:
    """How far a class tells the cluster, or a cluster the class, whichever is more: 0 by chance, 1 always."""
    seen = ~np.isnan(codes)
    if seen.sum() < 2:
        return 0.0
    counts = contingency_matrix(codes[seen].astype(np.intp), clusters[seen])
    return max(_told(table) for table in (counts, counts.T))


def _told(counts: NDArray[np.int64]) -> float:
    """Share of the errors of guessing the column that knowing the row spares (Goodman and Kruskal's lambda)."""
    wrong = 1 - counts.sum(axis=0).max() / counts.sum()
    return float(1 - (1 - counts.max(axis=1).sum() / counts.sum()) / wrong) if wrong > 0 else 0.0


def agreement(codes: NDArray[np.float64], clusters: NDArray[np.intp]) -> float:
    """Adjusted Rand index of classes and clusters, where the class is known."""
    seen = ~np.isnan(codes)
    return float(adjusted_rand_score(codes[seen].astype(np.intp), clusters[seen])) if seen.sum() > 1 else 0.0


def _judged(study: Study, fitted: Fitted, separation: Separation) -> Study:
    prepared = study.prepared
    few = prepared.spread[prepared.sample]
    strange = strangeness(few, fitted.view, separation.groups, separation.share)
    # numbers that do not belong have widened the model: it is fitted again without them
    doubtful = strange.cells < _DOUBTFUL
    is_wide = 0 < doubtful.any(axis=1).mean() <= FEW_FAR
    fitted = without(prepared, fitted, doubtful) if is_wide else fitted
    if is_wide or len(few) < prepared.rows:
        strange = strangeness(prepared.spread, fitted.view, separation.groups, separation.share)
    return replace(study, fitted=fitted, separation=separation, strange=strange)
