"""Which columns depend on each other, how much, and which change along the file."""

from itertools import combinations
from typing import Any

import numpy as np

from latently.report.study.association import Aspect, Pair, clearest_cell, compare, ranked
from latently.report.study.evidence import belief
from latently.report.study.information import Told
from latently.report.study.study import Skipped, Study
from latently.report.study.words import counted, cut, listed, short

ALARM, ORDER_ALARM = 0.003, 0.002  # chance of a false alarm over all pairs, and over all columns
_PAIRS, _SIDE = 40, 30
_LEAST_ROWS = 20


def dependencies(study: Study, *, ordered: bool = False) -> dict[str, Any]:
    """Test all pairs of columns, and tell how strong those are that depend on each other.

    Parameters
    ----------
    study
        The table and its model.
    ordered
        Whether the rows are known to be in the order of a column, so that changes along the file are no news.
    """
    aspects = study.aspects
    if len(aspects) < 2 or len(study.prepared.sample) < _LEAST_ROWS:
        raise Skipped("Dependencies need two columns that vary and at least 20 rows.")
    pairs = list(combinations(range(len(aspects)), 2))
    found = {(i, j): compare(aspects[i], aspects[j]) for i, j in pairs}
    limit = ALARM / len(pairs)
    sure = {places: pair for places, pair in found.items() if pair.p <= limit}
    strengths = _strengths(study, sure)
    order = sorted(sure, key=lambda places: (-strengths[places], sure[places].p))
    return {
        "text": _text(len(sure), len(pairs)),
        "pairs": [_pair(aspects, at, sure[at], strengths[at], len(pairs)) for at in order[:_PAIRS]],
        "count": len(sure),
        "tests": len(pairs),
        "matrix": _matrix(aspects, strengths),
        "order": [] if ordered else _along(study),
    }


def _strengths(study: Study, sure: dict[tuple[int, int], Pair]) -> dict[tuple[int, int], float]:
    """The larger of what the table shows and what the fitted model says."""
    if study.fitted is None:
        return {places: pair.strength for places, pair in sure.items()}
    told = Told(study.fitted.view, study.prepared.rng(9))
    place = {name: j for j, name in enumerate(study.prepared.names)}
    names = [aspect.name for aspect in study.aspects]
    out = {}
    for (i, j), pair in sure.items():
        a, b = place.get(names[i]), place.get(names[j])
        known = 0.0 if a is None or b is None else told.strength(a, b)
        out[i, j] = float(min(max(pair.strength, known), 1.0))
    return out


def _text(count: int, tests: int) -> str:
    if count == 0:
        return f"No dependence was found between columns ({counted(tests, 'pair')} tested)."
    return (
        f"{count} of {counted(tests, 'pair')} of columns depend on each other. Strength is the correlation that would "
        "tell as "
        "much, by the fitted model or by the table itself, whichever is more."
    )


def _pair(aspects: list[Aspect], at: tuple[int, int], pair: Pair, strength: float, tests: int) -> dict[str, Any]:
    a, b = aspects[at[0]], aspects[at[1]]
    return {
        "a": cut(a.name),
        "b": cut(b.name),
        "strength": strength,
        "probability": belief(pair.p, tests),
        "text": sentence(a, b, pair),
    }


def sentence(a: Aspect, b: Aspect, pair: Pair) -> str:
    """How two columns go together, in words."""
    one, other = short(a.name), short(b.name)
    if pair.by_rank and pair.correlation is not None and max(a.width, b.width) > 2:
        verb = "rises" if pair.correlation > 0 else "falls"
        return f"{one} {verb} with {other} (rank correlation {pair.correlation:.2f})"
    i, j = clearest_cell(pair)
    return f"{one} is {short(a.labels[i])} more often where {other} is {short(b.labels[j])}"


def _matrix(aspects: list[Aspect], strengths: dict[tuple[int, int], float]) -> dict[str, Any]:
    weight = np.zeros(len(aspects))
    for (i, j), value in strengths.items():
        weight[[i, j]] += value
    kept = np.sort(np.argsort(-weight, kind="stable")[:_SIDE])
    side = {int(i): at for at, i in enumerate(kept)}
    values = np.eye(len(kept))
    for (i, j), value in strengths.items():
        if i in side and j in side:
            values[side[i], side[j]] = values[side[j], side[i]] = value
    return {"columns": [cut(aspects[i].name) for i in kept], "values": values.round(4).tolist()}


def _along(study: Study) -> list[dict[str, Any]]:
    """Columns that change along the file."""
    sample = study.prepared.sample
    place = ranked("row", sample.astype(float), ("first fifth", "second", "third", "fourth", "last fifth"))
    if place is None:
        return []
    tests = len(study.aspects)
    found = [(aspect, compare(aspect, place)) for aspect in study.aspects]
    kept = sorted((f for f in found if f[1].p <= ORDER_ALARM / tests), key=lambda f: f[1].p)
    return [
        {
            "column": cut(aspect.name),
            "probability": belief(pair.p, tests),
            "strength": pair.strength,
            "text": sentence(aspect, place, pair)
            .replace("with row (", "along the file (")
            .replace("where row is", "in the"),
        }
        for aspect, pair in kept
    ]


def dependency_insight(found: dict[str, Any]) -> dict[str, Any]:
    """The finding in one sentence."""
    first = found["pairs"][0]
    more = f"; {found['count'] - 1} more pairs depend on each other" if found["count"] > 1 else ""
    return {
        "text": f"{first['text']}{more}.",
        "section": "dependencies",
        "probability": first["probability"],
        "interval": None,
    }


def order_insight(found: dict[str, Any]) -> dict[str, Any]:
    """That the rows are not in a random order."""
    names = listed([entry["column"] for entry in found["order"]])
    verb = "changes" if len(found["order"]) == 1 else "change"
    return {
        "text": f"The rows are not in a random order: {names} {verb} along the file.",
        "section": "dependencies",
        "probability": found["order"][0]["probability"],
        "interval": None,
    }
