"""A map of the rows: the two main directions of the table as the model sees it, missing values filled by the model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.report.sections.map.discriminant import discriminant_view
from latently.report.sections.map.tsne import TSNE_POINTS, tsne_map
from latently.report.study.columns import Column
from latently.report.study.evidence import beliefs
from latently.report.study.study import Skipped, Study
from latently.report.study.words import cut, listed, percent

Values = NDArray[np.float64]
POINTS, _COLUMNS = 3000, 12
_EDGE = 6.0  # scores are drawn in to this before directions are found, so that no single row makes one


def row_map(study: Study) -> dict[str, Any]:
    """Place the rows on a plane.

    Parameters
    ----------
    study
        The table and its model.
    """
    fitted, _, strange = study.model()
    rows = _sample(np.arange(study.prepared.rows), strange.log_p, POINTS, study.prepared.rng(7))
    if len(rows) < 3:
        raise Skipped("A map needs at least three rows.")
    features, owners = _features(study, fitted.view.filled(study.prepared.values[rows]))
    if features.shape[1] == 1:
        raise Skipped("The model sees one column alone: its distribution shows what a map would.")
    places, loadings, explained = _main(features)
    mostly = [_mostly(np.abs(v), owners, study) for v in loadings]
    weight = np.zeros(len(study.prepared.used))
    np.add.at(weight, owners, (loadings**2).sum(axis=0))
    shown = np.sort(np.argsort(-weight, kind="stable")[:_COLUMNS])
    return {
        "x_title": f"{mostly[0]} ({percent(explained[0])})",
        "y_title": f"{mostly[1]} ({percent(explained[1])})",
        "explained": explained,
        "text": _text(explained, len(rows), study.prepared.rows),
        "points": _points(study, rows, places, strange.log_p),
        "columns": {cut(c.name): _column(c, rows) for c in _coloured(study, shown)},
        "discriminant": _discriminant(study, rows, features, places, owners),
        "tsne": _neighbours(study, rows, features, places),
    }


def _sample(rows: NDArray[np.int64], log_p: Values, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Rows to show: all, or a sample and the strangest."""
    if len(rows) <= most:
        return rows
    strangest = rows[np.argsort(log_p[rows], kind="stable")[:50]]
    rest = rng.permutation(np.setdiff1d(rows, strangest))
    return np.sort(np.concatenate([strangest, rest[: most - len(strangest)]]))


def _neighbours(study: Study, rows: NDArray[np.int64], features: Values, places: Values) -> dict[str, Any]:
    """The same rows, or a sample of them, placed by t-SNE."""
    _, _, strange = study.model()
    rng = study.prepared.rng(14)
    some = _sample(rows, strange.log_p, TSNE_POINTS, rng)
    at = np.searchsorted(rows, some)
    found = tsne_map(features[at], places[at], study.memberships[some], some, rng)
    if len(some) < len(rows):
        found["text"] += f" {len(some)} of the {len(rows)} points are placed, the strangest among them."
    return found


def _features(study: Study, filled: Values) -> tuple[Values, NDArray[np.intp]]:
    """Scores, and one indicator for each class, weighted so that every column counts alike; and whose they are."""
    parts, owners = [], []
    for j, column in enumerate(study.prepared.used):
        if column.role == "numeric":
            z = np.clip(filled[:, j], -_EDGE, _EDGE)[:, None]
            parts.append((z - z.mean()) / (z.std() or 1.0))
        else:
            spots = (filled[:, j][:, None] == np.arange(len(column.classes))).astype(float)
            shares = spots.mean(axis=0)
            scale = np.sqrt(np.maximum(shares, 0.01) * max(len(shares) - 1, 1))
            parts.append((spots - shares) / scale)
        owners += [j] * parts[-1].shape[1]
    return np.hstack(parts), np.array(owners, dtype=np.intp)


def _main(features: Values) -> tuple[Values, Values, list[float]]:
    """Places on the two main directions, the directions, and their shares of the variance."""
    values, vectors = np.linalg.eigh(features.T @ features / len(features))
    total = max(float(values.sum()), 1e-300)
    chosen = [vectors[:, -1], vectors[:, -2] if len(values) > 1 else np.zeros(len(values))]
    signs = [float(np.sign(v[np.abs(v).argmax()])) or 1.0 for v in chosen]
    loadings = np.stack([s * v for s, v in zip(signs, chosen, strict=True)])
    top = [float(values[-1]), float(values[-2]) if len(values) > 1 else 0.0]
    return features @ loadings.T, loadings, [float(np.clip(v / total, 0.0, 1.0)) for v in top]


def _mostly(loading: Values, owners: NDArray[np.intp], study: Study) -> str:
    weight = np.zeros(len(study.prepared.used))
    np.add.at(weight, owners, loading**2)
    order = np.argsort(-weight, kind="stable")
    names = [study.prepared.used[j].name for j in order[:3] if weight[j] > 0.05]
    return f"mostly {listed(names)}" if names else "many columns" if weight.any() else "nothing"


def _text(explained: list[float], shown: int, rows: int) -> str:
    part = f" {shown} of {rows} rows are shown, the strangest among them." if shown < rows else ""
    return (
        "Each point is a row; near rows are alike. The axes are the two main directions of the table as the model "
        "sees it, "
        f"missing values filled with what it expects; together they hold {percent(min(sum(explained), 1.0))} of the "
        f"variation.{part}"
    )


def _points(study: Study, rows: NDArray[np.int64], places: Values, log_p: Values) -> dict[str, list[Any]]:
    shares = study.memberships[rows]
    return {
        "row": rows.tolist(),
        "x": places[:, 0].round(4).tolist(),
        "y": places[:, 1].round(4).tolist(),
        "cluster": (shares.argmax(axis=1) + 1).tolist(),
        "doubt": (1 - shares.max(axis=1)).round(4).tolist(),
        "anomaly": beliefs(log_p[rows], study.prepared.rows).round(4).tolist(),
    }


def _coloured(study: Study, shown: NDArray[np.intp]) -> list[Column]:
    """Columns that points may be coloured by: some that the model sees, and labels, in the order of the table."""
    names = {study.prepared.used[j].name for j in shown} | {c.name for c in study.prepared.aside}
    return [c for c in study.prepared.columns if c.name in names]


def _discriminant(
    study: Study, rows: NDArray[np.int64], features: Values, places: Values, owners: NDArray[np.intp]
) -> dict[str, Any] | None:
    """The same rows along the axes that tell the clusters apart."""
    found = discriminant_view(features, places, study.memberships[rows])
    if found is None:
        return None
    loadings = found.pop("loadings")
    titles = {f"{axis}_title": _mostly(loadings[:, i], owners, study) for i, axis in enumerate("xy")}
    return found | titles


def _column(column: Column, rows: NDArray[np.int64]) -> list[Any]:
    if column.levels:
        return [None if np.isnan(v) else cut(column.levels[int(v)]) for v in column.raw[rows]]
    return [None if np.isnan(v) else float(f"{v:.6g}") for v in column.raw[rows]]
