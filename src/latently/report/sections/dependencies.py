"""Which columns depend on each other, how much, and which change along the file."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from latently.report.findings.exact import Exact, exact_relations
from latently.report.findings.finding import Finding
from latently.report.findings.groups import grouped, is_fixed
from latently.report.series.calendar import is_calendar
from latently.report.series.panel import panel
from latently.report.study.evidence import belief
from latently.report.study.pairs.aspects import Aspect, ranked
from latently.report.study.pairs.association import Pair, clearest_cell, compare, rank_correlation
from latently.report.study.pairs.information import Told
from latently.report.study.power import association, correlation
from latently.report.study.study import Skipped, Study
from latently.report.study.words import counted, cut, listed, short

ALARM, ORDER_ALARM = 0.005, 0.002  # chance of a false alarm over all pairs, and over all columns
FALSE_SHARE = 0.01  # of the pairs that are told, once one is sure
_PAIRS, _SIDE = 40, 30
_FINDINGS = 5
_LEAST_ROWS = 12
_PARTS_OF_FILE = {
    2: ("first half", "second half"),
    3: ("first third", "second third", "last third"),
    4: ("first quarter", "second quarter", "third quarter", "last quarter"),
    5: ("first fifth", "second fifth", "third fifth", "fourth fifth", "last fifth"),
}


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
        raise Skipped(f"Dependencies need two columns that vary and at least {_LEAST_ROWS} rows.")
    pairs = list(combinations(range(len(aspects)), 2))
    found = {(i, j): study.compare(aspects[i], aspects[j]) for i, j in pairs}
    limit = ALARM / len(pairs)
    most = _level([pair.p for pair in found.values()], limit)
    sure = {places: pair for places, pair in found.items() if pair.p <= most}
    finds = _finds(aspects, found, limit)
    exact = exact_relations(study.prepared.columns, study.prepared.sample)
    strengths = _strengths(study, sure, exact)
    order = sorted(sure, key=lambda places: (-strengths[places], sure[places].p))
    return {
        "text": _text(len(sure), len(pairs), finds),
        "finds": finds,
        "pairs": [_pair(aspects, at, sure[at], strengths[at], len(pairs)) for at in order[:_PAIRS]],
        "count": len(sure),
        "tests": len(pairs),
        "matrix": _matrix(aspects, strengths),
        "exact": [each.to_dict() for each in exact],
        "groups": grouped(study, sure, strengths, exact, _clocks(study)),
        "order": [] if ordered else _along(study),
    }


def _level(p: list[float], limit: float) -> float:
    """The largest p-value that is told: `limit`; if one pair is as sure as that, a share of false ones among them."""
    ordered = np.sort(p)
    if ordered[0] > limit:
        return limit
    told = np.flatnonzero(ordered <= FALSE_SHARE * np.arange(1, len(p) + 1) / len(p))  # Benjamini and Hochberg
    return max(limit, float(ordered[told[-1]])) if len(told) else limit


def _clocks(study: Study) -> frozenset[str]:
    """The column of time and those that repeat it, if it orders one series or several that a column tells apart."""
    columns = study.prepared.columns
    time = next((c for c in columns if c.name == study.time), None)
    if time is None or panel(columns, time) is None:
        return frozenset()
    others = [c for c in columns if c.kind in ("numeric", "ordinal", "date") and not c.levels]
    repeats = [c.name for c in others if is_calendar(c.raw, time.raw, dates=time.kind == "date")]
    return frozenset({time.name, *repeats})


def _finds(aspects: list[Aspect], found: dict[tuple[int, int], Pair], limit: float) -> float | None:
    """The correlation that would have been found in 9 of 10 tables, in the middle one of the pairs with an order.

    If no pair has one: the strength of a dependence between classes (Cohen's w).
    """
    pairs = {at: pair for at, pair in found.items() if pair.correlation is not None and max(pair.table.shape) > 2}
    if pairs:
        sizes = [_finds_one(pair, limit, _has_third(aspects, at, pair)) for at, pair in pairs.items()]
    else:
        sizes = [association(pair.rows, limit, _freedom(pair)) for pair in found.values()]
    return _middle(sizes)


def _finds_one(pair: Pair, limit: float, third: bool) -> float | None:
    """Of two tests the one by ranks sees a correlation best; of three, that by what is new in each row."""
    return correlation(float(pair.table.sum()), limit / 3) if third else correlation(pair.rows, limit / 2)


def _has_third(aspects: list[Aspect], at: tuple[int, int], pair: Pair) -> bool:
    return pair.rows < pair.table.sum() and all(aspects[i].fresh is not None for i in at)


def _freedom(pair: Pair) -> int:
    return int((pair.table.shape[0] - 1) * (pair.table.shape[1] - 1))


def _middle(sizes: list[float | None]) -> float | None:
    """The middle of sizes, of which None is the largest."""
    middle = sorted(np.inf if size is None else size for size in sizes)[len(sizes) // 2]
    return float(middle) if np.isfinite(middle) else None


def _strengths(study: Study, sure: dict[tuple[int, int], Pair], exact: list[Exact]) -> dict[tuple[int, int], float]:
    """The larger of what the table shows and what the fitted model says; 1 if one column fixes the other."""
    return _by_model(study, sure) | {
        at: 1.0 for at in sure if is_fixed(study.aspects[at[0]], study.aspects[at[1]], exact)
    }


def _by_model(study: Study, sure: dict[tuple[int, int], Pair]) -> dict[tuple[int, int], float]:
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


def _text(count: int, tests: int, finds: float | None) -> str:
    if count == 0:
        size = f" A correlation of {finds:.2f} would have been found in 9 of 10 such tables." if finds else ""
        return f"No dependence was found between columns ({counted(tests, 'pair')} tested).{size}"
    return (
        f"In {count} of {counted(tests, 'pair')} the columns depend on each other. Strength is the correlation that "
        "would tell as much, by the fitted model or by the table itself, whichever is more."
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
    if pair.by_rank and pair.correlation is not None and a.is_graded and b.is_graded:
        r = rank_correlation(a, b)
        return f"{one} {'rises' if r > 0 else 'falls'} with {other} (rank correlation {r:.2f})"
    i, j = clearest_cell(pair, a, b)
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
    """Columns that change along the file, or whose rows resemble the rows before; the clearer sign of each."""
    sample = study.prepared.sample
    place = ranked("row", sample.astype(float))
    if place is None:
        return []
    place = replace(place, labels=_PARTS_OF_FILE[place.width])
    tests = 2 * len(study.aspects)
    keys = study.sort_keys
    others = [aspect for aspect in study.aspects if aspect.name not in keys]
    found = [(aspect, *min(_signs(study, aspect, place), key=lambda sign: sign[0].p)) for aspect in others]
    kept = sorted((f for f in found if f[1].p <= ORDER_ALARM / tests), key=lambda f: f[1].p)
    by = f"they are sorted by {', then by '.join(short(key) for key in study.named_keys)}"
    return [_order_entry(key, None, 1.0, by) for key in study.named_keys] + [
        _order_entry(aspect.name, belief(pair.p, tests), pair.strength, text) for aspect, pair, text in kept
    ]


def _order_entry(name: str, probability: float | None, strength: float, text: str) -> dict[str, Any]:
    """A column that is not in a random order; one without a probability is what the rows are sorted by."""
    return {"column": cut(name), "probability": probability, "strength": strength, "text": text}


def _signs(study: Study, aspect: Aspect, place: Aspect) -> list[tuple[Pair, str]]:
    """Tests of a column against the place in the file, and against the row before; each in words."""
    change = study.compare(aspect, place)
    told = sentence(aspect, place, change)
    told = told.replace("with row (", "along the file (").replace("where row is", "in the")
    here, before = (_cut(aspect, part) for part in (slice(1, None), slice(None, -1)))
    repeat = compare(here, replace(before, name="the row before"))
    if repeat.by_rank and repeat.correlation is not None:
        name = short(aspect.name)
        how = "resembles" if repeat.correlation > 0 else "turns against"
        return [(change, told), (repeat, f"{name} {how} the row before (rank correlation {repeat.correlation:.2f})")]
    return [(change, told), (repeat, sentence(here, replace(before, name="it"), repeat) + " in the row before")]


def _cut(aspect: Aspect, part: slice) -> Aspect:
    scores = None if aspect.scores is None else aspect.scores[part]
    return Aspect(aspect.name, aspect.codes[part], aspect.labels, scores)


def dependency_findings(found: dict[str, Any]) -> list[Finding]:
    """A finding for each group of pairs; its probability is that of the pair that is told."""
    return [
        Finding(
            "dependency",
            group["text"],
            "dependencies",
            columns=tuple(group["columns"]),
            effect=group["effect"],
            measure=group["measure"],
            probability=group["probability"],
            size=group["strength"] * group["surprise"],
        )
        for group in found["groups"][:_FINDINGS]
    ]


def order_finding(found: dict[str, Any]) -> Finding:
    """That the rows are not in a random order, by the clearest sign."""
    first = found["order"][0]
    more = [entry["column"] for entry in found["order"][1:]]
    left = [entry["column"] for entry in found["order"] if entry["probability"] is not None and entry is not first]
    also = f" (found for {listed(left)} too)" if left else ""
    return Finding(
        "order",
        f"The rows are not in a random order: {first['text']}{also}.",
        "dependencies",
        columns=(first["column"], *more),
        effect=first["strength"],
        measure="correlation",
        probability=first["probability"],
    )
