"""How a comparison is run: contests, their timing, and the table of results."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Runner = Callable[[Any], Any]
GROWTH_SECONDS = 1.0


@dataclass(frozen=True)
class Contest:
    """One job, given to us and to the peers.

    `make(rows)` builds the data; each runner does the whole job on it and returns what it found: the objective, or
    arrays, which are compared entry by entry. A peer in `other_answer` solves another problem: it is only timed.
    Growth with the rows is that of `steady`, which does a fixed number of iterations: until convergence, more rows
    also mean more iterations. None if `ours` does that anyway.
    """

    name: str
    rows: int
    make: Callable[[int], Any]
    ours: Runner
    peers: dict[str, Runner]
    goals: dict[str, float] = field(default_factory=dict)
    tolerance: float = 1e-6
    repeats: int = 3
    steady: Runner | None = None
    other_answer: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """Best times of every runner, how far its answer is from ours, and our times at half, all and twice the rows."""

    name: str
    times: dict[str, float]
    gaps: dict[str, float]
    goals: dict[str, float]
    tolerance: float
    growth: dict[int, float]

    @property
    def equal(self) -> bool:
        """Whether every peer that solves the same problem has our answer."""
        return all(gap <= self.tolerance for gap in self.gaps.values())

    @property
    def missed(self) -> list[str]:
        """What is not as it should be, in words."""
        found = [f"{peer} differs by {gap:.1e}" for peer, gap in self.gaps.items() if not gap <= self.tolerance]
        slow = [peer for peer, goal in self.goals.items() if self.ratio(peer) < goal]
        return found + [f"{self.ratio(p):.1f}x of {p}, not {self.goals[p]:g}x" for p in slow]

    def ratio(self, peer: str) -> float:
        """How many times faster than the peer we are."""
        return self.times[peer] / self.times["latently"]

    @property
    def exponent(self) -> float:
        """Slope of log time against log rows between the smallest and the largest size."""
        sizes = sorted(self.growth)
        if len(sizes) < 2:
            return math.nan
        first, last = sizes[0], sizes[-1]
        return math.log(self.growth[last] / self.growth[first]) / math.log(last / first)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        ratios = {peer: self.ratio(peer) for peer in self.times if peer != "latently"}
        return {
            "name": self.name,
            "seconds": self.times,
            "gaps": self.gaps,
            "ratios": ratios,
            "goals": self.goals,
            "equal": self.equal,
            "missed": self.missed,
            "seconds_by_rows": self.growth,
            "exponent": self.exponent,
        }


def timed(run: Runner, data: Any) -> tuple[float, Any]:
    """Seconds and answer of one run."""
    start = time.perf_counter()
    answer = run(data)
    return time.perf_counter() - start, answer


def gap(ours: Any, theirs: Any) -> float:
    """Largest difference of two answers, relative to the largest entry; infinite if their shapes differ or one is NaN.

    Answers are numbers, arrays of numbers or of labels, or tuples of these.

    Examples
    --------
    >>> gap((1.0, np.array([1.0, 4.0])), (1.0, np.array([1.0, 5.0])))
    0.25
    """
    if isinstance(ours, tuple):
        return max((gap(a, b) for a, b in zip(ours, theirs, strict=True)), default=0.0)
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.shape != b.shape:
        return math.inf
    if a.dtype.kind not in "biuf":
        return float(np.mean(a != b))
    a, b = a.astype(float), b.astype(float)
    far = float(np.max(np.abs(a - b), initial=0.0)) / max(float(np.max(np.abs(a), initial=0.0)), 1e-300)
    return far if not math.isnan(far) else math.inf


def compare(contest: Contest, *, growth: bool) -> Result:
    """Run everyone in turn, several rounds, and keep each one's best time."""
    data = contest.make(contest.rows)
    runners = {"latently": contest.ours, **contest.peers}
    contest.ours(contest.make(max(contest.rows // 20, 1000)))  # compiled before the clock starts
    rounds = [{name: timed(run, data) for name, run in runners.items()} for _ in range(contest.repeats)]
    times = {name: min(each[name][0] for each in rounds) for name in runners}
    ours = rounds[0]["latently"][1]
    gaps = {name: gap(ours, rounds[0][name][1]) for name in contest.peers if name not in contest.other_answer}
    return Result(contest.name, times, gaps, contest.goals, contest.tolerance, _growth(contest, growth))


def _growth(contest: Contest, wanted: bool) -> dict[int, float]:
    if not wanted:
        return {}
    sizes = [contest.rows // 2, contest.rows, contest.rows * 2]
    return {n: _best_alone(contest, n) for n in sizes}


def _best_alone(contest: Contest, rows: int) -> float:
    data, run = contest.make(rows), contest.steady or contest.ours
    first = timed(run, data)[0]
    repeats = max(contest.repeats, min(20, int(GROWTH_SECONDS / first)))  # short runs need more of them
    return min([first, *(timed(run, data)[0] for _ in range(repeats - 1))])


def table(results: list[Result]) -> str:
    """Times, ratios and goals as aligned text."""
    lines = [f"{'contest':<48}{'latently s':>10}  {'peer':<22}{'peer s':>10}{'ratio':>9}{'goal':>7}  answer     growth"]
    for result in results:
        for peer, seconds in result.times.items():
            if peer == "latently":
                continue
            goal = result.goals.get(peer)
            apart = result.gaps.get(peer)
            same = "-" if apart is None else "equal" if apart <= result.tolerance else "DIFFERS"
            lines.append(
                f"{result.name:<48}{result.times['latently']:>10.4f}  {peer:<22}{seconds:>10.4f}"
                f"{result.ratio(peer):>8.1f}x{f'{goal:g}x' if goal else '-':>7}  "
                f"{same:<9}  " + (f"{result.exponent:.2f}" if result.growth else "-")
            )
    return "\n".join(lines)


def verdict(results: list[Result]) -> int:
    """Print what was missed, and give the exit code: 1 if an answer differs or a goal is missed."""
    missed = [f"{result.name}: {words}" for result in results for words in result.missed]
    print("\n".join(["", *(f"MISSED {line}" for line in missed)]) if missed else "\nno difference, no goal missed")
    return int(bool(missed))
