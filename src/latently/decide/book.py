"""Dutch books: whether beliefs are coherent, and the bets that lose for sure if they are not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from latently.decide.coherence import Finding, examine
from latently.decide.logic import Bools, Expression, both, parse_belief
from latently.decide.nearest import nearest
from latently.decide.odds import as_interval
from latently.decide.rewards import Floats
from latently.decide.worlds import Worlds

Interval = tuple[float, float]
Listed = tuple[tuple[str, ...], Bools, Floats]  # names, worlds (worlds, names), probabilities


@dataclass(frozen=True)
class Bet:
    """Tickets that pay one each if the event is true, bought (stake above zero) or sold (below).

    Parameters
    ----------
    event
        The belief bet on, as it was written; called off if it has a condition that turns out false.
    price
        What a ticket costs: the belief.
    stake
        Number of tickets.

    Examples
    --------
    Somebody who believes x to 0.9 takes a bet that wins 1 if x is true and loses 9 if it is false:

    >>> Bet.on("x", 0.9, win=1).if_false
    -9.0
    """

    event: str
    price: float
    stake: float

    @classmethod
    def on(cls, event: str, belief: float, win: float = 1.0) -> "Bet":
        """Give the bet on an event that is fair under a belief and wins `win` if the event is true."""
        if not 0 <= belief < 1:
            raise ValueError(f"a belief of {belief} cannot win {win}: it must be at least 0 and below 1")
        return cls(event, belief, win / (1 - belief))

    @property
    def if_true(self) -> float:
        """What the holder of the belief gets if the event is true."""
        return self.stake * (1 - self.price)

    @property
    def if_false(self) -> float:
        """What the holder of the belief gets if the event is false."""
        return -self.stake * self.price

    def payoff(self, world: Mapping[str, bool]) -> float:
        """Give what the holder of the belief gets in a world."""
        event, condition = parse_belief(self.event)
        at = {name: np.array([value]) for name, value in world.items()}
        if not condition.holds(at)[0]:
            return 0.0
        return self.if_true if event.holds(at)[0] else self.if_false


@dataclass(frozen=True, eq=False)
class AgreeingJoint:
    """A distribution over worlds, as independent groups of propositions with a short list of worlds each."""

    groups: tuple[Listed, ...]

    @property
    def propositions(self) -> tuple[str, ...]:
        """Names of all propositions."""
        return tuple(name for names, _, _ in self.groups for name in names)

    def probability(self, text: str) -> float:
        """Give the probability of an expression, or of one given another."""
        event, condition = parse_belief(text)
        on = self._probability(condition)
        if on == 0:
            raise ValueError(f"cannot condition in {text!r}: the condition has probability zero")
        return self._probability(both(event, condition)) / on

    def _probability(self, expression: Expression) -> float:
        wanted = set(expression.names())
        unknown = wanted.difference(self.propositions)
        if unknown:
            raise ValueError(f"no proposition {sorted(unknown)[0]!r}: there are {list(self.propositions)}")
        chosen = [group for group in self.groups if wanted.intersection(group[0])]
        return float(sum(p for world, p in _combined(chosen) if expression.holds(world)[0]))

    def as_dict(self) -> dict[tuple[bool, ...], float]:
        """Give every world of positive probability, as truth values in the order of `propositions`."""
        worlds = _combined(self.groups)
        return {tuple(bool(world[n][0]) for n in self.propositions): p for world, p in worlds}


def _combined(groups: Sequence[Listed]) -> Iterator[tuple[dict[str, Bools], float]]:
    """Give the worlds of independent groups together, with their probabilities."""
    for picks in product(*(range(len(p)) for _, _, p in groups)):
        world: dict[str, Bools] = {}
        chance = 1.0
        for (names, worlds, p), i in zip(groups, picks, strict=True):
            world |= {name: worlds[i : i + 1, j] for j, name in enumerate(names)}
            chance *= float(p[i])
        yield world, chance


@dataclass(frozen=True, eq=False)
class DutchBook:
    """What `dutch_book` found.

    Attributes
    ----------
    coherent : bool
        Whether the beliefs follow the rules of probability.
    joint : AgreeingJoint or None
        A distribution with these beliefs, if coherent.
    layers : tuple of AgreeingJoint
        `joint`, and for beliefs given events that have probability zero in it, the distributions after such
        an event.
    bets : tuple of Bet
        If incoherent, bets that are fair under the beliefs, each of at most `stake` tickets.
    loss : float
        What they lose at least.
    sure : bool
        True if they lose in every world. False if all are conditional: then they lose wherever one is not
        called off.
    nearest : dict
        The nearest coherent beliefs; the beliefs themselves if coherent.
    """

    coherent: bool
    joint: AgreeingJoint | None
    layers: tuple[AgreeingJoint, ...] = ()
    bets: tuple[Bet, ...] = ()
    loss: float = 0.0
    sure: bool = True
    nearest: dict[str, float] = field(default_factory=dict)

    def payoff(self, world: Mapping[str, bool]) -> float:
        """Give what the holder of the beliefs gets from all bets in a world."""
        return sum(bet.payoff(world) for bet in self.bets)


def dutch_book(beliefs: Mapping[str, Any], *, stake: float = 1.0) -> DutchBook:
    """Check beliefs for coherence: a joint distribution that has them, or bets that lose whatever happens.

    Parameters
    ----------
    beliefs
        From expressions ("rain", "rain & cold", "not rain", "rain given cold") to a probability, an interval
        (low, high), or odds as text ("9:1" for, "9:1 against").
    stake
        The most tickets, worth one each, in one bet.

    Returns
    -------
    DutchBook
        The joint distribution, or the bets with the loss they guarantee; and the nearest coherent beliefs.

    Examples
    --------
    >>> book = dutch_book({"rain": 0.6, "not rain": 0.6})
    >>> book.coherent, book.loss
    (False, 0.2)
    >>> book.payoff({"rain": True}), book.payoff({"rain": False})
    (-0.2, -0.2)
    >>> book.nearest
    {'rain': 0.5, 'not rain': 0.5}
    >>> dutch_book({"rain": 0.3, "cold given rain": 0.5}).joint.probability("rain & cold")
    0.15
    """
    if not beliefs:
        raise ValueError("there are no beliefs: give at least one")
    if not (np.isfinite(stake) and stake > 0):
        raise ValueError(f"stake must be a positive number, got {stake}")
    parsed = {text: parse_belief(text) for text in beliefs}
    intervals = {text: as_interval(text, value) for text, value in beliefs.items()}
    found = [
        _Group(worlds, texts, examine(worlds, *_bounds(texts, intervals))) for worlds, texts in _independent(parsed)
    ]
    losing = [g for g in found if not g.finding.layers]
    if not losing:
        layers = tuple(_layers(found))
        kept = {t: _plain(v, intervals[t]) for t, v in beliefs.items()}
        return DutchBook(True, layers[0], layers, nearest=kept)
    near = {t: v for g in found for t, v in _nearest(g, intervals).items()}
    return _book(losing, intervals, stake, {text: near[text] for text in beliefs})


@dataclass(frozen=True)
class _Group:
    """Beliefs that share propositions, and what was found about them."""

    worlds: Worlds
    texts: tuple[str, ...]
    finding: Finding


def _independent(
    parsed: Mapping[str, tuple[Expression, Expression]],
) -> Iterator[tuple[Worlds, tuple[str, ...]]]:
    """Cut the beliefs into groups that share no proposition: each is a smaller problem of its own."""
    groups: list[tuple[set[str], list[str]]] = []
    for text, (event, condition) in parsed.items():
        names, texts = {*event.names(), *condition.names()}, [text]
        for group in [g for g in groups if g[0] & names]:
            groups.remove(group)
            names, texts = names | group[0], group[1] + texts
        groups.append((names, texts))
    for names, texts in groups:
        worlds = Worlds(tuple(sorted(names)), tuple(parsed[t] for t in texts))
        never = np.flatnonzero(~worlds.start.on.any(axis=1))
        if len(never):
            raise ValueError(f"the condition of {texts[never[0]]!r} can never be true: no bet could be made")
        yield worlds, tuple(texts)


def _bounds(texts: Sequence[str], intervals: Mapping[str, Interval]) -> tuple[Floats, Floats]:
    ends = np.array([intervals[text] for text in texts])
    return ends[:, 0], ends[:, 1]


def _layers(groups: Sequence[_Group]) -> Iterator[AgreeingJoint]:
    deepest = max(len(g.finding.layers) for g in groups)
    for depth in range(deepest):
        there = [(g.worlds.names, g.finding.layers[min(depth, len(g.finding.layers) - 1)]) for g in groups]
        yield AgreeingJoint(tuple((names, columns.worlds, weights) for names, (columns, weights) in there))


def _plain(value: Any, interval: Interval) -> Any:
    return interval[0] if interval[0] == interval[1] else tuple(value)


def _nearest(group: _Group, intervals: Mapping[str, Interval]) -> dict[str, Any]:
    if group.finding.layers:
        return {t: _plain(intervals[t], intervals[t]) for t in group.texts}
    values = nearest(group.worlds, *_bounds(group.texts, intervals))
    return dict(zip(group.texts, values.tolist(), strict=True))


def _book(losing: Sequence[_Group], intervals: Mapping[str, Interval], stake: float, near: dict[str, Any]) -> DutchBook:
    """Put the bets of all groups together; those that lose under a condition only if there are no others."""
    sure = any(g.finding.sure for g in losing)
    used = [g for g in losing if g.finding.sure == sure]
    losses = [g.finding.loss * stake for g in used]
    bets = tuple(bet for g in used for bet in _bets(g, intervals, stake))
    return DutchBook(False, None, (), bets, sum(losses) if sure else min(losses), sure, near)


def _bets(group: _Group, intervals: Mapping[str, Interval], stake: float) -> Iterator[Bet]:
    finding = group.finding
    if finding.bought is None or finding.sold is None:
        return
    for i, bought, sold in zip(finding.which, finding.bought, finding.sold, strict=True):
        text = group.texts[i]
        low, high = intervals[text]
        if low == high:
            bought, sold = max(bought - sold, 0.0), max(sold - bought, 0.0)
        if bought > 0:
            yield Bet(text, low, float(bought * stake))
        if sold > 0:
            yield Bet(text, high, -float(sold * stake))
