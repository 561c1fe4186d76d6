"""A column to predict: how well the others tell it, on rows held back, and which of them matter."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data import Schema
from latently.data.schema.column import Column as SchemaColumn
from latently.decide import Recalibrated
from latently.predict import BayesianLinearRegression, NaiveBayes, RandomForestClassifier
from latently.report.findings.finding import Finding
from latently.report.study.columns import Column
from latently.report.study.evidence import share_interval
from latently.report.study.order import inflation_of_mean
from latently.report.study.study import Skipped, Study
from latently.report.study.words import counted, cut, listed, number, percent, short

Values = NDArray[np.float64]
_LEAST_ROWS = 40
MOST_ROWS = 12_000
_HELD = 0.35
_BINS = 10
_TREES = 100
_SURE = 2.807  # two-sided 0.5 %


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be predicted from what, learnt and held-back rows apart."""

    name: str
    X: Values
    y: Values
    columns: tuple[Column, ...]
    learn: NDArray[np.int64]
    held_out: NDArray[np.int64]
    classes: tuple[str, ...]


def target(study: Study, name: str) -> dict[str, Any]:
    """Predict a column from the others, and measure it on rows held back.

    Parameters
    ----------
    study
        The table.
    name
        The column to predict.
    """
    column = next(c for c in study.prepared.columns if c.name == name)
    if column.kind in ("text", "identifier", "constant", "empty", "date") or column.role is None:
        raise Skipped(f"Column {short(name)} is {column.kind}: a target must be a number or a category that varies.")
    others = tuple(c for c in study.prepared.used if c.name != name)
    if not others:
        raise Skipped("There is no other column to predict the target from.")
    task = _task(study, column, others)
    return _classes(study, task) if task.classes else _numbers(study, task)


def _task(study: Study, column: Column, others: tuple[Column, ...]) -> Task:
    y = column.raw if column.role == "numeric" else column.seen
    rows = np.flatnonzero(~np.isnan(y))
    if len(rows) < _LEAST_ROWS:
        raise Skipped(f"Column {short(column.name)} is known in {counted(len(rows), 'row')}: at least 40 are needed.")
    rng = study.prepared.rng(10)
    rows = rng.permutation(study.prepared.first(rows))[:MOST_ROWS]
    if study.time is not None:  # the end is held back: rows between others are told by their neighbours
        moments = next(c for c in study.prepared.columns if c.name == study.time).raw
        rows = np.sort(rows)
        rows = rows[np.argsort(moments[rows], kind="stable")]
    X = np.column_stack([c.seen[rows] for c in others])
    cut_at = round(len(rows) * (1 - _HELD))
    y, classes = y[rows], column.classes if column.role == "codes" else ()
    learn, held_out = np.arange(cut_at), np.arange(cut_at, len(rows))
    if classes:
        common = [k for k in range(len(classes)) if (y[learn] == k).sum() >= 5]
        if len(common) < 2:
            raise Skipped(f"Column {short(column.name)} has fewer than two classes of at least 5 rows.")
        learn, held_out = learn[np.isin(y[learn], common)], held_out[np.isin(y[held_out], common)]
    return Task(column.name, X, y, others, learn, held_out, classes)


# classes


def _classes(study: Study, task: Task) -> dict[str, Any]:
    y = task.y[task.held_out].astype(int)
    model, named = _best_classifier(task, y)
    proba = model.predict_proba(task.X[task.held_out])
    known = np.searchsorted(model.classes_, y)
    shares = np.bincount(np.searchsorted(model.classes_, task.y[task.learn]), minlength=len(model.classes_))
    base = np.log((shares + 1) / (shares + 1).sum())
    right = proba.argmax(axis=1) == known
    usual = float((known == shares.argmax()).mean())
    loss = -np.log(np.maximum(proba[np.arange(len(y)), known], 1e-12))
    told, gain, error = _gain(-base[known] - loss)
    importance = _importance(study, task, lambda X: _log_loss(model, X, known), loss)
    return {
        "name": cut(task.name),
        "kind": "class",
        "model": named,
        "metric": "accuracy",
        "score": float(right.mean()),
        "interval": share_interval(float(right.mean()), len(right)),
        "baseline": usual,
        "tells": told,
        "nats": [gain - 1.96 * error, gain + 1.96 * error],
        "text": _class_text(task, told, float(right.mean()), usual, len(y), importance),
        "importance": importance,
        "calibration": _reliability(proba, known),
    }


def _best_classifier(task: Task, y: NDArray[np.int64]) -> tuple[Any, str]:
    """Naive Bayes or a random forest, whichever is less surprised by the rows held back; and what it is called."""
    X, labels = task.X[task.learn], task.y[task.learn].astype(int)
    families = {j: "categorical" for j, c in enumerate(task.columns) if c.role == "codes"}
    bayes = Recalibrated(NaiveBayes(families=families or None)).fit(X, labels)
    forest = RandomForestClassifier(_TREES, min_samples_leaf=3, m=1.0, schema=_tree_schema(task), random_state=0)
    forest.fit(X, labels)
    known = np.searchsorted(bayes.classes_, y)
    losses = [float(_log_loss(model, task.X[task.held_out], known).mean()) for model in (bayes, forest)]
    if losses[1] < losses[0]:
        return forest, "random forest (better than naive Bayes on the rows held back)"
    return bayes, "naive Bayes, recalibrated (better than a random forest on the rows held back)"


def _tree_schema(task: Task) -> Schema:
    return Schema(
        tuple(
            SchemaColumn(f"x{j}", "categorical", tuple(range(len(c.classes))))
            if c.role == "codes"
            else SchemaColumn(f"x{j}", "numeric")
            for j, c in enumerate(task.columns)
        )
    )


def _log_loss(model: Any, X: Values, known: NDArray[np.intp]) -> Values:
    proba = model.predict_proba(X)
    return np.asarray(-np.log(np.maximum(proba[np.arange(len(known)), known], 1e-12)))


def _gain(differences: Values) -> tuple[bool, float, float]:
    """Whether a mean gain is above zero beyond chance, the gain, and its standard error.

    Gains that resemble those before them count for less.
    """
    rows = len(differences) / inflation_of_mean(differences)
    mean, error = float(differences.mean()), float(differences.std() / np.sqrt(rows))
    return bool(mean > _SURE * error and mean > 0), mean, error


def _class_text(
    task: Task, told: bool, score: float, usual: float, held_out: int, importance: list[dict[str, Any]]
) -> str:
    rows, name = f"On {counted(held_out, 'row')} held back", short(task.name)
    if not told:
        return f"{rows} the other columns tell nothing about {name} that could be shown."
    if score <= usual:
        little = f"the other columns make {name} a little less uncertain, but do not help to guess it"
        return f"{rows} {little}.{_matter(importance)}"
    against = f"against {percent(usual)} by always saying the most common class"
    return f"{rows} {name} is predicted right in {percent(score)}, {against}.{_matter(importance)}"


def _matter(importance: list[dict[str, Any]]) -> str:
    names = [entry["column"] for entry in importance if entry["interval"][0] > 0]
    return f" What matters: {listed(names)}." if names else ""


def _reliability(proba: Values, known: NDArray[np.intp]) -> dict[str, list[Any]]:
    """How often the most probable class is right, by how probable it is said to be."""
    best, right = proba.max(axis=1), proba.argmax(axis=1) == known
    order = np.array_split(np.argsort(best, kind="stable"), min(_BINS, max(len(best) // 20, 1)))
    return {
        "predicted": [float(best[part].mean()) for part in order],
        "observed": [float(right[part].mean()) for part in order],
        "count": [len(part) for part in order],
    }


# numbers


def _numbers(study: Study, task: Task) -> dict[str, Any]:
    features = _Features(task)
    model = BayesianLinearRegression().fit(features(task.X[task.learn]), task.y[task.learn])
    y, rows = task.y[task.held_out], features(task.X[task.held_out])
    mean = model.predict(rows)
    centre = float(task.y[task.learn].mean())
    before, after = (y - centre) ** 2, (y - mean) ** 2
    usual = max(float(before.mean()), 1e-300)
    told, gain, error = _gain((before - after) / usual)
    importance = _importance(study, task, lambda X: (y - model.predict(features(X))) ** 2 / usual, after / usual)
    return {
        "name": cut(task.name),
        "kind": "number",
        "model": "Bayesian linear regression with squares",
        "metric": "R2",
        "score": gain,
        "interval": [gain - 1.96 * error, gain + 1.96 * error],
        "baseline": 0.0,
        "tells": told,
        "error": float(np.sqrt(after.mean())),
        "text": _number_text(task, told, gain, float(np.sqrt(after.mean())), float(np.sqrt(usual)), importance),
        "importance": importance,
        "calibration": _coverage(model, rows, y),
    }


class _Features:
    """Inputs of a linear model: scores, their squares, indicators of classes and of missing values."""

    def __init__(self, task: Task) -> None:
        X = task.X[task.learn]
        self.codes = [len(c.classes) if c.role == "codes" else 0 for c in task.columns]
        self.absent = [bool(np.isnan(x).mean() > 0.01) for x in X.T]
        self.middle = np.array([0.0 if np.isnan(x).all() else float(np.nanmean(x)) for x in X.T])

    def __call__(self, X: Values) -> Values:
        parts = []
        for j, x in enumerate(X.T):
            gone = np.isnan(x)
            if self.codes[j]:
                parts.append((x[:, None] == np.arange(self.codes[j])).astype(float))
            else:
                z = np.clip(np.where(gone, self.middle[j], x), -5.0, 5.0)
                parts.append(np.column_stack([z, z**2 - 1]))
            if self.absent[j]:
                parts.append(gone[:, None].astype(float))
        return np.hstack(parts)


def _number_text(
    task: Task, told: bool, gain: float, error: float, usual: float, importance: list[dict[str, Any]]
) -> str:
    rows, name = f"On {counted(len(task.held_out), 'row')} held back", short(task.name)
    if not told:
        return f"{rows} the other columns tell nothing about {name} that could be shown."
    against = f"predictions are off by {number(error)}, against {number(usual)} by always saying the mean"
    return (
        f"{rows} the other columns explain {percent(gain)} of the variance of {name}: {against}.{_matter(importance)}"
    )


def _coverage(model: BayesianLinearRegression, rows: Values, y: Values) -> dict[str, list[Any]]:
    """How often the model's intervals of a stated probability hold."""
    levels = [level / _BINS for level in range(1, _BINS)]
    ends = [model.interval(rows, level).T for level in levels]
    observed = [float(((low <= y) & (y <= high)).mean()) for low, high in ends]
    return {"predicted": levels, "observed": observed, "count": [len(y)] * len(levels)}


# which columns matter


def _importance(study: Study, task: Task, loss: Any, before: Values) -> list[dict[str, Any]]:
    """Rise of the loss on the rows held back when a column is shuffled, with a 95 % interval; largest first."""
    rng = study.prepared.rng(11)
    made = []
    for j, column in enumerate(task.columns):
        X = task.X[task.held_out]
        X[:, j] = rng.permutation(X[:, j])
        _, gain, error = _gain(loss(X) - before)
        made.append({"column": cut(column.name), "gain": gain, "interval": [gain - 1.96 * error, gain + 1.96 * error]})
    return sorted(made, key=lambda entry: -entry["gain"])


def target_finding(found: dict[str, Any]) -> Finding:
    """The finding in one sentence."""
    return Finding(
        "target",
        found["text"],
        "target",
        columns=(found["name"], *(entry["column"] for entry in found["importance"])),
        effect=found["score"],
        measure=found["metric"],
        interval=tuple(found["interval"]),
    )
