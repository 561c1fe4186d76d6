"""States and change points along a column of time, from a hidden Markov model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.cluster import Mixture
from latently.learn import select
from latently.report.findings.finding import Finding
from latently.report.sections.along_time.trend import trends
from latently.report.sections.typical import typical
from latently.report.study.columns import Column
from latently.report.study.model import quiet
from latently.report.study.rows.autoregression import criteria
from latently.report.study.study import Skipped, Study, shown_moment
from latently.report.study.words import counted, cut, listed, number, percent, short
from latently.sequence import GaussianHMM

Values = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST_ROWS, _LEAST_FOR_STATES, _MOST_COLUMNS, _MOST_STATES = 10, 40, 8, 5
MOST_ROWS = 5000
_POINTS, _SEGMENTS, _CHANGES, _PATHS = 2000, 200, 100, 100
_LEAST_DURATION = 3.0  # rows that a state lasts, on average
_MARGIN = 10.0  # of the criterion, against the best model without states, without memory, or with memory alone


@dataclass(frozen=True, eq=False)
class Series:
    """The rows in the order of time.

    Attributes
    ----------
    column
        The column of time.
    rows
        Places of the rows in the file, in the order of time.
    columns
        Columns of scores that the model sees.
    X
        (rows, columns) scores, NaN where missing.
    """

    column: Column
    rows: Ints
    columns: tuple[Column, ...]
    X: Values


def time(study: Study, name: str) -> dict[str, Any]:
    """Look for states that last, and for the moments at which they change.

    Parameters
    ----------
    study
        The table.
    name
        The column that orders the rows.
    """
    found = trends(study, name)
    series = _series(study, name, found.rests)
    about = {
        "by": found.by,
        "n": found.n,
        "looked_at": found.looked_at,
        "left_out": found.left_out,
        "parts": found.parts,
        "breaks": found.breaks,
    }
    alone = found.by is None and len(series.rows) >= _LEAST_FOR_STATES
    model, scores = _model(study, series) if alone else (None, {})
    if model is None:
        return _nothing(series, scores, about)
    shares = model.predict_proba(series.X)
    order = np.argsort(-shares.mean(axis=0), kind="stable")
    place = np.argsort(order)
    shares, path = shares[:, order], place[model.predict(series.X)]
    paths = place[model.sample_paths(series.X, n_paths=_PATHS, random_state=study.prepared.seed)]
    changes = _changes(series, path, paths)
    return {
        "column": cut(name),
        "states": shares.shape[1],
        "text": _joined(about, _text(name, shares.shape[1], path, changes)),
        "trend": about,
        "probability": _probability(scores, shares.shape[1]),
        "criterion": scores,
        "segments": _segments(series, path),
        "changes": changes,
        "cards": _cards(series, shares, model.expected_durations()[order]),
        "series": _shown(series, path, shares),
    }


def _joined(about: dict[str, Any], states: str) -> str:
    """What trend and season say first, then the states of what they leave."""
    said = [entry["text"] for entry in about["parts"][:3]]
    if about["n"] == 0:
        said = [
            "Several rows share a time and no column tells them apart: trend, season and breaks were not looked for."
        ]
    if about["left_out"]:
        repeat = counted(about["left_out"], "row")
        said.insert(0, f"{repeat} with a time that another row has already: the first of each is looked at.")
    left = len(about["parts"]) - 3
    more = [f"{left} more {'has' if left == 1 else 'have'} one as well."] if left > 0 else []
    return " ".join([*said, *more, *(entry["text"] for entry in about["breaks"][:3]), states])


def _series(study: Study, name: str, rests: dict[str, Values]) -> Series:
    column = next(c for c in study.prepared.columns if c.name == name)
    if column.kind not in ("date", "numeric", "ordinal", "identifier") or (column.levels and column.kind != "ordinal"):
        raise Skipped(f"Column {short(name)} is {column.kind}: time must be a date or a number.")
    rows = study.prepared.first(np.flatnonzero(~column.missing))
    rows = rows[np.argsort(column.raw[rows], kind="stable")]
    rows = rows[:: -(-len(rows) // MOST_ROWS)] if len(rows) else rows
    used = [c for c in study.prepared.used if c.role == "numeric" and c.name != name]
    if len(rows) < _LEAST_ROWS or not used:
        needed = f"a column of numbers and at least {_LEAST_ROWS} rows with a time"
        raise Skipped(f"What happens along {short(name)} needs {needed}.")
    values = study.prepared.spread[rows][:, [study.prepared.names.index(c.name) for c in used]]
    for j, c in enumerate(used):
        if c.name in rests:
            values[:, j] = _standardised(rests[c.name][rows])
    kept = np.sort(np.argsort([-_memory(x) for x in values.T], kind="stable")[:_MOST_COLUMNS])
    return Series(column, rows, tuple(used[j] for j in kept), np.clip(values[:, kept], -6.0, 6.0))


def _standardised(x: Values) -> Values:
    spread = float(np.nanstd(x)) if (~np.isnan(x)).any() else 0.0
    return (x - np.nanmean(x)) / spread if spread > 0 else np.zeros_like(x)


def _memory(x: Values) -> float:
    """How much a value tells about the next: their correlation."""
    both = ~np.isnan(x[1:]) & ~np.isnan(x[:-1])
    a, b = x[1:][both], x[:-1][both]
    spread = a.std() * b.std() if len(a) > 2 else 0.0
    return float(abs(np.mean((a - a.mean()) * (b - b.mean()))) / spread) if spread > 0 else 0.0


def _model(study: Study, series: Series) -> tuple[Any, dict[str, list[float]]]:
    """The model of states, if it is clearly better than all models without states; and the criteria."""
    sizes = range(1, min(_MOST_STATES, len(series.X) // 20) + 1)
    seed = int(study.prepared.rng(12).integers(2**31))
    grid = {"n_components": list(sizes)}
    with quiet():
        chains = select(
            (GaussianHMM(n_iter=100, tol=1e-2, n_init=2), grid), series.X, warm_start=False, random_state=seed
        )
        plain = select((Mixture(n_init=2), grid), series.X, warm_start=False, random_state=seed)
    scores = {"states": [line["bic"] for line in chains.table], "without_memory": [line["bic"] for line in plain.table]}
    scores["autoregressive"] = criteria(series.X, list(sizes), seed)
    best = min(filter(lambda k: _lasts(chains.models[k - 1]), sizes), key=lambda k: scores["states"][k - 1], default=1)
    clear = min(_without_states(scores)) - scores["states"][best - 1] > _MARGIN
    return (chains.models[best - 1] if best > 1 and clear else None), scores


def _without_states(scores: dict[str, list[float]]) -> list[float]:
    return scores["without_memory"] + scores["autoregressive"]


def _probability(scores: dict[str, list[float]], states: int) -> float:
    """That there are so many states, among all models compared, each as likely beforehand: by their criteria."""
    every = np.array([*scores["states"], *_without_states(scores)])
    own = scores["states"][states - 1]
    return float(1 / np.exp(-0.5 * np.clip(every - own, -1000, None)).sum())


def _lasts(model: Any) -> bool:
    """Whether every state lasts for some rows: one that comes and goes in a row is a few strange rows, not a state."""
    return model is not None and (model.n_components == 1 or model.expected_durations().min() >= _LEAST_DURATION)


def _nothing(series: Series, scores: dict[str, list[float]], about: dict[str, Any]) -> dict[str, Any]:
    along = short(series.column.name)
    text = f"No states along {along}: rows that follow from the rows before, or that do not, describe it as well."
    if about["by"] is not None:
        text = f"States were not looked for: the rows belong to {about['n']} series ({short(about['by'])})."
    elif len(series.rows) < _LEAST_FOR_STATES:
        text = f"States were not looked for: that takes at least {_LEAST_FOR_STATES} rows."
    path, shares = np.zeros(len(series.rows), dtype=np.int64), np.ones((len(series.rows), 1))
    return {
        "column": cut(series.column.name),
        "states": 1,
        "text": _joined(about, text),
        "trend": about,
        "probability": None,
        "criterion": scores,
        "segments": _segments(series, path),
        "changes": [],
        "cards": [],
        "series": _shown(series, path, shares),
    }


def _text(name: str, states: int, path: Ints, changes: list[dict[str, Any]]) -> str:
    times = int((path[1:] != path[:-1]).sum())
    sure = sum(change["probability"] >= 0.9 for change in changes)
    told = f"Along {short(name)} the rows go through {states} states and change {counted(times, 'time')}"
    return f"{told}; {sure} of the changes shown are sure to 90 % or more."


def _segments(series: Series, path: Ints) -> list[dict[str, Any]]:
    starts = np.concatenate([[0], np.flatnonzero(path[1:] != path[:-1]) + 1])
    stops = np.concatenate([starts[1:], [len(path)]]) - 1
    return [
        {
            "state": int(path[a]) + 1,
            "start": int(series.rows[a]),
            "stop": int(series.rows[b]),
            "from": shown_moment(series.column, int(series.rows[a])),
            "to": shown_moment(series.column, int(series.rows[b])),
        }
        for a, b in list(zip(starts, stops, strict=True))[:_SEGMENTS]
    ]


def _changes(series: Series, path: Ints, paths: Ints) -> list[dict[str, Any]]:
    """Where the best path changes, with the share of drawn paths that change near there as well."""
    at = np.flatnonzero(path[1:] != path[:-1]) + 1
    near = max(2, len(path) // 200)
    past = np.cumsum(np.pad(paths[:, 1:] != paths[:, :-1], ((0, 0), (1, 0))), axis=1)  # changes up to each row
    low, high = np.maximum(at - near - 1, 0), np.minimum(at + near, len(path) - 1)
    sure = (past[:, high] > past[:, low]).mean(axis=0)
    kept = np.sort(np.argsort(-sure, kind="stable")[:_CHANGES])
    return [
        {
            "row": int(series.rows[at[i]]),
            "at": shown_moment(series.column, int(series.rows[at[i]])),
            "probability": float(sure[i]),
        }
        for i in kept
    ]


def _cards(series: Series, shares: Values, durations: Values) -> list[dict[str, Any]]:
    told = typical(series.columns, series.rows, shares)
    return [
        {
            "state": k + 1,
            "share": float(shares[:, k].mean()),
            "mean_duration": float(min(durations[k], len(series.rows))),
            "typical": entries,
        }
        for k, entries in enumerate(told)
    ]


def _shown(series: Series, path: Ints, shares: Values) -> dict[str, Any]:
    some = np.arange(0, len(path), -(-len(path) // _POINTS))
    rows = series.rows[some]
    return {
        "at": [shown_moment(series.column, int(row)) for row in rows],
        "state": (path[some] + 1).tolist(),
        "doubt": (1 - shares[some].max(axis=1)).clip(0, 1).round(4).tolist(),
        "columns": {cut(c.name): _values(c.raw[rows]) for c in series.columns},
    }


def _values(x: Values) -> list[float | None]:
    return [None if np.isnan(v) else float(f"{v:.6g}") for v in x]


def states_finding(found: dict[str, Any]) -> Finding:
    """The finding in one sentence."""
    changes = sorted(found["changes"], key=lambda change: -change["probability"])
    when = f"; the clearest change is at {changes[0]['at']} ({percent(changes[0]['probability'])})" if changes else ""
    shares = listed([percent(card["share"]) for card in found["cards"]], 5)
    most = number(max(card["mean_duration"] for card in found["cards"]))
    how = f"{shares}; up to {most} rows at a time"
    text = f"Along {short(found['column'])} the rows go through {found['states']} states ({how})"
    return Finding(
        "states",
        f"{text}{when}.",
        "time",
        columns=(found["column"],),
        rows=tuple(change["row"] for change in found["changes"]),
        effect=found["states"],
        measure="states",
        probability=found["probability"],
        code=f"df.sort_values({found['column']!r}).plot(x={found['column']!r})",
    )
