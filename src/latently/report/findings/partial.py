"""Dependences that show only at equal values of a third column, which hides them in all rows together."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from latently.report.findings.code import name
from latently.report.findings.finding import Finding
from latently.report.series.calendar import is_calendar
from latently.report.study.columns import Column
from latently.report.study.evidence import belief
from latently.report.study.pairs.aspects import RARER, Aspect
from latently.report.study.rows.order import inflation_of_mean
from latently.report.study.study import Study
from latently.report.study.words import cut, number, short

Values = NDArray[np.float64]
_ALARM: Final = 0.002  # chance of a false alarm over all tests
_MOST_COLUMNS: Final = 12
_MOST_ROWS: Final = 2000
_BESIDE: Final = 2  # columns that each one is looked at given
_LEAST_LINK: Final = 0.3
_CLASSES: Final = 12  # values of a column that are held equal one by one; of more, a cubic is taken out
_LEAST: Final = 5  # rows of a class
_LEAST_GAIN: Final = 0.06  # a partial correlation of about a quarter
_IDENTITY: Final = 0.95  # from which share of the variance on the third column is made from the other two
_MOST: Final = 2
_LEAST_TOLD: Final = 0.1  # partial correlation of the numbers themselves


@dataclass(frozen=True, eq=False)
class _Hidden:
    """That y depends on x at equal z."""

    y: Aspect
    x: Aspect
    z: Aspect
    p: float
    share: float  # of the variance of y at equal z
    tests: int


def partial_findings(study: Study, dependencies: dict[str, Any], tied: list[set[str]]) -> list[Finding]:
    """The clearest dependences that a third column hides.

    Parameters
    ----------
    study
        The table.
    dependencies
        The section on pairs; only what depends on something is looked at further.
    tied
        Columns that arithmetic ties together, such as a total and its parts: what follows from it is no news.
    """
    copies = [{e["source"], e["target"]} for e in dependencies.get("exact", []) if e["relation"] != "determines"]
    again = {each["target"] for each in dependencies.get("exact", []) if each["relation"] == "copy"}
    aspects = [a for a in study.aspects if cut(a.name) not in again] if dependencies.get("pairs") else []
    if not 3 <= len(aspects) <= _MOST_COLUMNS:
        return []
    links = {frozenset((p["a"], p["b"])): p["strength"] for p in dependencies["pairs"]}
    triples = [
        (y, x, z)
        for y in aspects
        if _is_measured(study, y)
        for z in _strongest(y, aspects, links)
        for x in aspects
        if x is not y and x is not z and frozenset((cut(y.name), cut(x.name))) not in links
        if not any(len({cut(y.name), cut(x.name), cut(z.name)} & family) > 1 for family in [*tied, *copies])
    ]
    rows = np.arange(len(study.prepared.sample))[:_MOST_ROWS]
    found = [_hidden(study, *triple, rows, len(triples)) for triple in triples]
    clear = sorted((f for f in found if f is not None), key=lambda f: f.p)
    told: dict[frozenset[str], _Hidden] = {}
    for each in clear:  # of three columns once
        told.setdefault(frozenset((each.y.name, each.x.name, each.z.name)), each)
    made = [_finding(study, each) for each in list(told.values())[: 2 * _MOST]]
    return [each for each in made if each.measure != "correlation" or abs(each.effect or 0.0) >= _LEAST_TOLD][:_MOST]


def _is_measured(study: Study, aspect: Aspect) -> bool:
    """Whether a column is an outcome: a number by which rows are not sorted and whose values do not recur by design."""
    column = _column(study, aspect)
    if aspect.scores is None or column.role != "numeric" or aspect.name in study.sort_keys:
        return False
    moments = [c for c in study.prepared.columns if c.kind == "date" or c.name == study.time]
    if any(is_calendar(column.raw, each.raw, dates=each.kind == "date") for each in moments):
        return False
    counts = np.unique(aspect.scores[aspect.codes >= 0], return_counts=True)[1]
    return bool(counts.max() == 1 or np.ptp(counts) > 0)


def _column(study: Study, aspect: Aspect) -> Column:
    return next(c for c in study.prepared.columns if c.name == aspect.name)


def _strongest(y: Aspect, aspects: list[Aspect], links: dict[frozenset[str], float]) -> list[Aspect]:
    """The columns with which one goes most."""
    sizes = {z: links.get(frozenset((cut(y.name), cut(z.name))), 0.0) for z in aspects if z is not y}
    return sorted((z for z, size in sizes.items() if size >= _LEAST_LINK), key=lambda z: -sizes[z])[:_BESIDE]


def _hidden(study: Study, y: Aspect, x: Aspect, z: Aspect, rows: NDArray[np.int64], tests: int) -> _Hidden | None:
    """Whether classes, or a line, of x explain more of the scores of y than z alone does (an F test)."""
    seen = rows[(y.codes[rows] >= 0) & (x.codes[rows] >= 0) & (z.codes[rows] >= 0)]
    assert y.scores is not None
    held, added = _held(z, seen), _added(x, seen)
    both = np.column_stack([held, added])
    if len(seen) < 3 * both.shape[1] + 10 or np.bincount(x.codes[seen]).min() < _LEAST:
        return None
    without, left = (_left(y.scores[seen], base) for base in (held, both))
    ordered = np.full(len(y.codes), np.nan)
    ordered[seen] = left
    inflated = 1.0 if x.memory is None else inflation_of_mean(ordered[study.order])
    freedom = np.linalg.matrix_rank(both) - np.linalg.matrix_rank(held)
    rest = len(seen) / inflated - np.linalg.matrix_rank(both)
    if freedom < 1 or rest < _LEAST or not float(left @ left) > 0:
        return None
    gain = float(without @ without / (left @ left)) - 1
    p = float(fdtrc(freedom, rest, gain * rest / freedom))
    share = gain / (1 + gain)
    is_clear = p * tests < _ALARM and gain > _LEAST_GAIN
    return _Hidden(y, x, z, p, share, tests) if is_clear and share < _IDENTITY else None


def _held(z: Aspect, rows: NDArray[np.int64]) -> Values:
    """What is held equal: the values of z one by one if they are few, a cubic of its scores if not."""
    if z.scores is None:
        return np.asarray(z.spots[rows], dtype=np.float64)
    values, places = np.unique(z.scores[rows], return_inverse=True)
    if len(values) <= _CLASSES:
        return np.eye(len(values))[places]
    return np.vander(z.scores[rows], 4)


def _added(x: Aspect, rows: NDArray[np.int64]) -> Values:
    if x.is_graded and x.scores is not None:
        return x.scores[rows][:, None]
    return np.asarray(x.spots[rows][:, 1:], dtype=np.float64)


def _left(y: Values, base: Values) -> Values:
    return np.asarray(y - base @ np.linalg.lstsq(base, y, rcond=None)[0])


def _finding(study: Study, found: _Hidden) -> Finding:
    column = _column(study, found.y)
    raw = column.raw[study.prepared.sample]
    seen = np.flatnonzero((found.y.codes >= 0) & (found.x.codes >= 0) & (found.z.codes >= 0))
    left = _left(raw[seen], _held(found.z, seen))
    y, x, z = (short(each.name) for each in (found.y, found.x, found.z))
    if found.x.is_graded and found.x.scores is not None:
        line = _left(found.x.scores[seen], _held(found.z, seen))
        effect, measure = float(np.corrcoef(left, line)[0, 1]), "correlation"
        text = f"At equal {z}, {y} {'rises' if effect > 0 else 'falls'} with {x} (partial correlation {effect:.2f})"
    else:
        codes = found.x.codes[seen]
        means = {k: float(left[codes == k].mean()) for k in np.unique(codes) if found.x.labels[k] != RARER}
        high, low = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        effect, measure = means[high] - means[low], "difference"
        size = f"{number(effect)} higher for {short(found.x.labels[high])} than for {short(found.x.labels[low])}"
        text = f"At equal {z}, {y} differs by {x}: on average it is {size}"
    return Finding(
        "dependency",
        f"{text}; this is not clear in all rows together.",
        "dependencies",
        tuple(cut(each.name) for each in (found.y, found.x, found.z)),
        effect=effect,
        measure=measure,
        probability=belief(found.p, found.tests),
        code=_code(study, found),
        size=0.75 * float(np.sqrt(found.share)),
    )


def _code(study: Study, found: _Hidden) -> str:
    y, x, z = (name(each.name) for each in (found.y, found.x, found.z))
    given = f"df[{z}]"
    if found.z.scores is not None and len(np.unique(found.z.scores)) > _CLASSES:
        given = f"pd.qcut(df[{z}], 4, duplicates='drop')"
    if found.x.is_graded and found.x.scores is not None:
        show = f'df.groupby({given}, observed=True)[[{y}, {x}]].corr("spearman")'
    else:
        show = f"df.groupby([{given}, df[{x}]], observed=True)[{y}].mean().unstack()"
    return f"import pandas as pd\n{show}" if "pd." in show else show
