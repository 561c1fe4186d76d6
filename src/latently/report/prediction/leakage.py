"""Columns that give the target away: alone they tell it nearly perfectly, and the others together do not.

A column may tell the target well by nature, as petals tell irises; then other columns do so too. One that
is all but the target itself stands out from all the others.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from latently.report.prediction.alone import alone, right
from latently.report.prediction.features import Feature
from latently.report.prediction.importance import gain
from latently.report.prediction.models import Judged, judged
from latently.report.prediction.task import Task

_NEARLY: Final = 0.75  # share of the uncertainty, or 0.98 of the variance, that a column alone takes away
_NEARLY_NUMBER: Final = 0.98
_TIMES: Final = 2.5  # by which the loss of all others together is larger
_BY_MISSING: Final = 0.98  # right by what is missing so often, it was known only after the target
_EXACT: Final = 0.995  # right by its classes so often, a column is the target under another name
_MOST: Final = 3


@dataclass(frozen=True, eq=False)
class Leak:
    """A column that gives the target away.

    Attributes
    ----------
    column
        Its name.
    by_missing
        Whether it does so by being missing or not.
    alone
        Share of right answers, or of the variance, by this column alone.
    """

    column: str
    by_missing: bool
    alone: float


def leaks(task: Task, models: list[Judged], copies: list[str]) -> tuple[list[Leak], Task, list[Judged]]:
    """The columns that give the target away, the task without them, and its models.

    Parameters
    ----------
    task
        What is predicted from all columns.
    models
        Its models, the best first.
    copies
        Columns that repeat the target, in its own unit or in another: any two of them vouch for each other.
    """
    base = base_loss(task)
    found = [Leak(name, by_missing=False, alone=1.0) for name in copies if name in task.owners]
    if found and task.without(copies).features:
        task = task.without(copies)
        models = judged(task)
    for feature, loss in _candidates(task, base)[:_MOST]:
        rest = task.without([feature.owner])
        if not rest.features:
            break
        leak = _leak(task, feature)
        others = judged(rest)
        if not (_is_exact(task, feature, leak) or _stands_out(loss, others[0].loss)):
            continue
        found.append(leak)
        task, models = rest, others
    return found, task, models


def base_loss(task: Task) -> np.ndarray:
    """(held-out rows,) losses of guessing by the shares of the classes, or by the mean."""
    if not task.classes:
        return np.asarray((task.y[task.held_out] - task.y[task.learn].mean()) ** 2)
    counts = np.bincount(task.y[task.learn].astype(np.intp), minlength=len(task.classes)) + 1.0
    return np.asarray(-np.log(counts / counts.sum())[task.y[task.held_out].astype(np.intp)])


def _candidates(task: Task, base: np.ndarray) -> list[tuple[Feature, np.ndarray]]:
    """Features that tell the target nearly perfectly alone, the best first; one for each column."""
    most = (1 - (_NEARLY if task.classes else _NEARLY_NUMBER)) * base.mean()
    losses = [(feature, alone(task, feature, task.learn, task.held_out)) for feature in task.features]
    near = sorted((pair for pair in losses if pair[1].mean() <= most), key=lambda pair: float(pair[1].mean()))
    return list({feature.owner: (feature, loss) for feature, loss in reversed(near)}.values())[::-1]


def _leak(task: Task, feature: Feature) -> Leak:
    """Say by what a column tells the target: being missing is enough if it does nearly as well."""
    base = base_loss(task).mean()
    missing = [f for f in task.features if f.owner == feature.owner and f.part == "missing"]
    part = 0.9 * (base - alone(task, feature, task.learn, task.held_out).mean())
    by_missing = [f for f in missing if base - alone(task, f, task.learn, task.held_out).mean() >= part]
    shown = by_missing[0] if by_missing else feature
    if task.classes:
        return Leak(feature.owner, bool(by_missing), right(task, shown))
    return Leak(feature.owner, bool(by_missing), 1 - float(alone(task, shown, task.learn, task.held_out).mean() / base))


def _is_exact(task: Task, feature: Feature, leak: Leak) -> bool:
    """Whether its classes, or what it lacks, are those of the target: no other column can then vouch for it."""
    if not task.classes:
        return False
    return leak.alone >= _BY_MISSING if leak.by_missing else feature.classes > 0 and leak.alone >= _EXACT


def _stands_out(own: np.ndarray, others: np.ndarray) -> bool:
    return bool(others.mean() >= _TIMES * own.mean()) and gain(others - own)[0]
