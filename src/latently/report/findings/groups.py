"""Dependent pairs of columns as few findings, each told by its clearest pair."""

from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.blocks import Block, blocks
from latently.report.findings.exact import Exact
from latently.report.findings.sentences import told
from latently.report.study.evidence import belief
from latently.report.study.pairs.aspects import Aspect
from latently.report.study.pairs.association import Pair, rank_correlation
from latently.report.study.study import Study
from latently.report.study.words import cut, listed, short

Values = NDArray[np.float64]
Pairs = dict[tuple[int, int], Pair]
_MOST_NAMES: Final = 9
_MOST_PAIRS: Final = 5
_LIKE: Final = 3  # columns that move together, from which on the first stands for them
_FIRST: Final = 5  # columns of a block, before those beside it
_NUMBERS: Final = ("three", "four", "five", "six", "seven", "eight", "nine")


def grouped(
    study: Study,
    sure: Pairs,
    strengths: dict[tuple[int, int], float],
    exact: list[Exact],
    clocks: frozenset[str] = frozenset(),
) -> list[dict[str, Any]]:
    """Group the pairs of columns that depend on each other, and say each group in a sentence.

    Parameters
    ----------
    study
        The table.
    sure
        The pairs that depend on each other, by the places of their aspects.
    strengths
        How strong each is.
    exact
        Columns that follow from another: a copy is left out, and what one column fixes is told elsewhere.
    clocks
        The column of time and parts of it, if trends along it are told elsewhere.
    """
    d = len(study.aspects)
    ordered = np.array([aspect.is_graded for aspect in study.aspects], dtype=bool)
    links, moves = np.zeros((d, d)), np.zeros((d, d))
    for (i, j), strength in strengths.items():
        pair = sure[i, j]
        r = abs(pair.correlation) if pair.correlation is not None and ordered[i] and ordered[j] else None
        moves[i, j] = moves[j, i] = r or 0.0
        # what a reader sees in the table counts, where a rising or falling line is the clearest sign
        links[i, j] = links[j, i] = strength if r is None or not pair.by_rank else r
    names = [aspect.name for aspect in study.aspects]
    for table in (links, moves):
        _forget(table, names, exact)
        for at in (names.index(clock) for clock in clocks if clock in names):
            table[at], table[:, at] = 0.0, 0.0  # what columns do along time is told as trend and season
    tests = d * (d - 1) // 2
    found = blocks(links, moves, ordered)
    together = {k: at for at, block in enumerate(found) if not (block.hub or block.twins) for k in block.columns}
    return [_group(study, block, sure, tests, together) for block in found]


def _forget(links: Values, names: list[str], exact: list[Exact]) -> None:
    place = {name: at for at, name in enumerate(names)}
    for each in exact:
        i, j = place.get(each.source), place.get(each.target)
        if j is None or i is None:
            continue
        if each.relation == "determines":
            links[i, j] = links[j, i] = 0.0
        else:
            links[j], links[:, j] = 0.0, 0.0


def _group(study: Study, block: Block, sure: Pairs, tests: int, together: dict[int, int]) -> dict[str, Any]:
    at = tuple(sorted(block.lead))
    pair = sure[at[0], at[1]]
    names = [study.aspects[i].name for i in _named_first(block)]
    if block.twins:
        text, effect, measure = _pairs(study, block)
    else:
        text, effect, measure = _star(study, block, sure, together) if block.hub else _together(study, block, sure)
    return {
        "columns": [cut(name) for name in names],
        "together": not (block.hub or block.twins),
        "text": text,
        "effect": effect,
        "measure": measure,
        "strength": block.strength,
        "surprise": block.surprise,
        "probability": belief(pair.p, tests),
    }


def _named_first(block: Block) -> tuple[int, ...]:
    """The columns of a finding, what goes with a block after its first ones."""
    return (*block.columns[:_FIRST], *block.beside, *block.columns[_FIRST:])


def _star(study: Study, block: Block, sure: Pairs, together: dict[int, int]) -> tuple[str, float, str]:
    """The clearest pair with its effect, and what else goes with the same column."""
    hub, lead = (study.aspects[i] for i in block.lead)
    columns = {column.name: column for column in study.prepared.columns}
    a, b = (hub, lead) if block.lead in sure else (lead, hub)
    found = told(a, b, sure[_key(block.lead)], columns, study.prepared.sample)
    others = _as_blocks(study, block.columns[2:], together)
    more = f"; {listed(others, 6)} {'goes' if len(others) == 1 else 'go'} with {short(hub.name)} too" if others else ""
    return f"{found.text}{more}.", found.effect, found.measure


def _as_blocks(study: Study, columns: tuple[int, ...], together: dict[int, int]) -> list[str]:
    """Names of columns; of three or more that move together the first, with how many are like it."""
    names = dict[int, list[str]]()
    for k in columns:
        names.setdefault(together.get(k, -1 - k), []).append(study.aspects[k].name)
    return [
        name
        for own in names.values()
        for name in (own if len(own) < _LIKE else [f"{short(own[0])} (with {len(own) - 1} that move with it)"])
    ]


def _together(study: Study, block: Block, sure: Pairs) -> tuple[str, float, str]:
    """All columns of a block, those that fall when the others rise apart."""
    names = [study.aspects[i].name for i in block.columns]
    falls = [name for name, k in zip(names, block.columns, strict=True) if _sign(block.columns[0], k, sure) < 0]
    if len(falls) > len(names) / 2:
        falls = [name for name in names if name not in falls]
    size = _NUMBERS[len(names) - 3] if len(names) - 3 < len(_NUMBERS) else str(len(names))
    down = f"; {listed(falls)} {'falls' if len(falls) == 1 else 'fall'} when the others rise" if falls else ""
    members = [study.aspects[i] for i in block.columns[:_MOST_NAMES]]
    mean = float(np.mean([abs(rank_correlation(a, b)) for a, b in combinations(members, 2)]))
    beside = [study.aspects[k].name for k in block.beside]
    more = f"; {listed(beside)} {'goes' if len(beside) == 1 else 'go'} with most of them" if beside else ""
    text = f"These {size} columns move together (mean rank correlation {mean:.2f}): {listed(names, _MOST_NAMES)}{down}"
    return f"{text}{more}.", mean, "correlation"


def _pairs(study: Study, block: Block) -> tuple[str, float, str]:
    """Pairs of columns that are nearly the same, in one sentence."""
    pairs = list(zip(block.columns[::2], block.columns[1::2], strict=True))
    least = min(abs(rank_correlation(study.aspects[i], study.aspects[j])) for i, j in pairs)
    names = [f"{short(study.aspects[i].name)} with {short(study.aspects[j].name)}" for i, j in pairs]
    how = f"rise, or fall, almost exactly together (rank correlation {least:.2f} and more)"
    return f"{len(pairs)} pairs of columns {how}: {listed(names, _MOST_PAIRS)}.", block.strength, "correlation"


def _sign(first: int, other: int, sure: Pairs) -> float:
    pair = sure.get(_key((first, other)))
    return 1.0 if pair is None or pair.correlation is None else pair.correlation


def _key(places: tuple[int, int]) -> tuple[int, int]:
    return min(places), max(places)


def is_fixed(a: Aspect, b: Aspect, exact: list[Exact]) -> bool:
    """Whether one of two columns follows from the other."""
    return any({each.source, each.target} == {a.name, b.name} for each in exact)
