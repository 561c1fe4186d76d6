"""A column to predict: how well the others tell it, on rows held back, and which of them matter."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from latently.predict import BayesianLinearRegression
from latently.report.findings.exact import exact_relations
from latently.report.findings.finding import Finding
from latently.report.prediction.importance import gain, importances
from latently.report.prediction.leakage import Leak, base_loss, leaks
from latently.report.prediction.make import MOST_ROWS as MOST_ROWS
from latently.report.prediction.make import make_task
from latently.report.prediction.models import Design, Judged, judged, places
from latently.report.prediction.task import Task
from latently.report.sections.target_words import class_text, leak_text, more_text, number_text, shown_code
from latently.report.study.evidence import share_interval
from latently.report.study.study import Study, aspect
from latently.report.study.words import cut

Values = NDArray[np.float64]
_BINS = 10
_RARE = 0.8  # share of the most common class, from which accuracy says little
_SURE = 3.3  # standard errors by which right answers are more than by guessing, if the log loss shows too little
_ALARM = 0.001  # chance of a false alarm over all columns that are tested beside the target


def target(study: Study, name: str) -> dict[str, Any]:
    """Predict a column from the others, and measure it on rows held back.

    Parameters
    ----------
    study
        The table.
    name
        The column to predict.
    """
    whole = make_task(study, name)
    with_all = judged(whole)
    leaking, task, models = leaks(whole, with_all, copies_of(study, name))
    report = _classes if task.classes else _numbers
    found = report(study, task, models)
    full = found if not leaking else report(study, whole, with_all)
    return found | {
        "text": found["headline"] + more_text(found, task),
        "unread": [cut(column) for column in task.unread],
        "leakage": [_leakage(task, leak, found, full) for leak in leaking],
        "code": shown_code(study, task, [column for entry in found["importance"] for column in entry["columns"]]),
    }


def copies_of(study: Study, name: str) -> list[str]:
    """The columns that repeat another, rise or fall with it always, or say the same in other words."""
    columns, sample = study.prepared.columns, study.prepared.sample
    own = next(c for c in columns if c.name == name)
    pairs = [(each, exact_relations((own, each), sample)) for each in columns if each is not own]
    return [each.name for each, found in pairs if any(e.relation != "determines" for e in found)]


def _classes(study: Study, task: Task, models: list[Judged]) -> dict[str, Any]:
    best, known = models[0], places(task)
    shares = np.bincount(np.searchsorted(np.unique(task.y[task.learn]), task.y[task.learn]))
    usual = float((known == shares.argmax()).mean())
    base = base_loss(task)
    told, nats, error = gain(base - best.loss)
    hits = best.said.argmax(axis=1) == known
    told = told or gain(hits.astype(np.float64) - (known == shares.argmax()), _SURE)[0]
    importance = importances(task, best, study.prepared.rng(11))
    right = float(hits.mean())
    auc, auc_error = _auc(best.said, known)
    is_rare = bool(shares.max() / shares.sum() > _RARE)
    found = {
        "name": cut(task.name),
        "kind": "class",
        "model": _named(models),
        "models": [_of_classifier(model, known) for model in models],
        "metric": "AUC" if is_rare else "accuracy",
        "score": auc if is_rare else right,
        "interval": _interval(auc, auc_error) if is_rare else share_interval(right, len(known)),
        "baseline": 0.5 if is_rare else usual,
        "tells": told,
        "nats": [nats - 1.96 * error, nats + 1.96 * error],
        "accuracy": right,
        "usual": usual,
        "auc": auc,
        "log_loss": best.mean_loss,
        "log_loss_guessing": float(base.mean()),
        "rare": _rarest(task) if is_rare else None,
        "held_out": len(known),
        "related": _related(study, task),
        "importance": importance,
        "calibration": _reliability(best.said, known),
    }
    return found | {"headline": class_text(found, task)}


def _numbers(study: Study, task: Task, models: list[Judged]) -> dict[str, Any]:
    best, y, base = models[0], task.y[task.held_out], base_loss(task)
    usual = max(float(base.mean()), 1e-300)
    told, share, error = gain((base - best.loss) / usual)
    found = {
        "name": cut(task.name),
        "kind": "number",
        "model": _named(models),
        "models": [_of_regressor(model, usual) for model in models],
        "metric": "R2",
        "score": share,
        "interval": [share - 1.96 * error, share + 1.96 * error],
        "baseline": 0.0,
        "tells": told,
        "error": float(np.sqrt(best.mean_loss)),
        "usual": float(np.sqrt(usual)),
        "held_out": len(y),
        "related": _related(study, task),
        "importance": importances(task, best, study.prepared.rng(11), usual),
        "calibration": _coverage(task, best),
    }
    return found | {"headline": number_text(found, task)}


def _named(models: list[Judged]) -> str:
    others = " and ".join(model.name for model in models[1:])
    return f"{models[0].name} (better than {others} on the rows held back)"


def _of_classifier(model: Judged, known: NDArray[np.intp]) -> dict[str, Any]:
    right = float((model.said.argmax(axis=1) == known).mean())
    return {"model": model.name, "log_loss": model.mean_loss, "accuracy": right, "auc": _auc(model.said, known)[0]}


def _of_regressor(model: Judged, usual: float) -> dict[str, Any]:
    return {"model": model.name, "R2": 1 - model.mean_loss / usual, "error": float(np.sqrt(model.mean_loss))}


def _auc(proba: Values, known: NDArray[np.intp]) -> tuple[float, float]:
    """Area under the curve, each class against the rest, by their shares; and its standard error.

    The error is that of Hanley and McNeil (1982).
    """
    counts = np.bincount(known, minlength=proba.shape[1])
    there = np.flatnonzero((counts > 0) & (counts < len(known)))
    if not len(there):
        return 0.5, 0.5
    areas = np.array([roc_auc_score(known == k, proba[:, k]) for k in there])
    n, m = counts[there], len(known) - counts[there]
    one, two = areas / (2 - areas), 2 * areas**2 / (1 + areas)
    squares = (areas * (1 - areas) + (n - 1) * (one - areas**2) + (m - 1) * (two - areas**2)) / (n * m)
    area, error = (float(np.average(v, weights=n)) for v in (areas, np.sqrt(np.maximum(squares, 0.0))))
    return area, error


def _interval(middle: float, error: float) -> list[float]:
    return [max(middle - 1.96 * error, 0.0), min(middle + 1.96 * error, 1.0)]


def _rarest(task: Task) -> dict[str, Any]:
    codes, counts = np.unique(task.y, return_counts=True)
    k = int(counts.argmin())
    return {"class": cut(task.classes[int(codes[k])]), "share": float(counts[k] / counts.sum())}


def _related(study: Study, task: Task) -> list[str]:
    """Columns that go with the target in all rows, the clearest first, whether or not a model needs them."""
    by_name = {c.name: c for c in study.prepared.columns}
    own = aspect(by_name[task.name], study.prepared.sample)
    others = [aspect(by_name[name], study.prepared.sample) for name in task.owners]
    tested = [study.remembered(other) for other in others if other is not None]
    if own is None or not tested:
        return []
    own = study.remembered(own)
    found = [(study.compare(own, other).p, cut(other.name)) for other in tested]
    return [name for p, name in sorted(found) if p < _ALARM / len(tested)]


def _reliability(proba: Values, known: NDArray[np.intp]) -> dict[str, list[Any]]:
    """How often the most probable class is right, by how probable it is said to be."""
    best, right = proba.max(axis=1), proba.argmax(axis=1) == known
    order = np.array_split(np.argsort(best, kind="stable"), min(_BINS, max(len(best) // 20, 1)))
    return {
        "predicted": [float(best[part].mean()) for part in order],
        "observed": [float(right[part].mean()) for part in order],
        "count": [len(part) for part in order],
    }


def _coverage(task: Task, best: Judged) -> dict[str, list[Any]]:
    """How often intervals of a stated probability hold on the rows held back."""
    levels = [level / _BINS for level in range(1, _BINS)]
    y = task.y[task.held_out]
    observed = [float(((low <= y) & (y <= high)).mean()) for low, high in _intervals(task, best, levels)]
    return {"predicted": levels, "observed": observed, "count": [len(y)] * len(levels)}


def _intervals(task: Task, best: Judged, levels: list[float]) -> list[Values]:
    """Those of a linear model; of a forest, by the errors of the trees that had not seen a row."""
    if isinstance(best.model, BayesianLinearRegression):
        rows = Design(task)(task.X[task.held_out])
        return [best.model.interval(rows, level).T for level in levels]
    off = task.y[task.learn] - best.model.oob_prediction_
    ends = [np.quantile(off, [0.5 - level / 2, 0.5 + level / 2]) for level in levels]
    return [best.said + end[:, None] for end in ends]


def _leakage(task: Task, leak: Leak, found: dict[str, Any], full: dict[str, Any]) -> dict[str, Any]:
    accuracy = "accuracy" if task.classes else "score"
    entry = {
        "column": cut(leak.column),
        "by": "missing" if leak.by_missing else "values",
        "metric": "accuracy" if task.classes else "R2",
        "alone": leak.alone,
        "with": full[accuracy],
        "without": found[accuracy],
        "baseline": found["usual"] if task.classes else 0.0,
        "log_loss": None if not task.classes else {"with": full["log_loss"], "without": found["log_loss"]},
    }
    return entry | {"text": leak_text(entry, task.name)}


def target_finding(found: dict[str, Any]) -> Finding:
    """The finding in one sentence."""
    matter = [column for entry in found["importance"] if entry["interval"][0] > 0 for column in entry["columns"]]
    return Finding(
        "target",
        found["headline"],
        "target",
        columns=tuple(dict.fromkeys((found["name"], *matter, *found["related"]))),
        effect=found["score"],
        measure=found["metric"],
        interval=(found["interval"][0], found["interval"][1]),
        code=found["code"],
    )


def leakage_findings(found: dict[str, Any]) -> list[Finding]:
    """Every column that gives the target away, in one sentence each."""
    return [
        Finding(
            "leakage",
            leak["text"],
            "target",
            columns=(leak["column"], found["name"]),
            effect=leak["alone"],
            measure=leak["metric"],
            interval=(min(leak["without"], leak["with"]), max(leak["without"], leak["with"])),
            code=_leak_code(leak, found),
        )
        for leak in found.get("leakage", [])
    ]


def _leak_code(leak: dict[str, Any], found: dict[str, Any]) -> str:
    one, other = f"df[{leak['column']!r}]", f"df[{found['name']!r}]"
    if leak["by"] == "missing":
        return f"pd.crosstab({one}.isna(), {other}, normalize='index')"
    if found["kind"] == "class":
        return f"df.groupby({found['name']!r})[{leak['column']!r}].describe()"
    return f"{one}.corr({other}, method='spearman')"
