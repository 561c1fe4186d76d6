"""How a comparison is run: contests, their timing, and the table of results."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Runner = Callable[[Any], float]
GROWTH_SECONDS = 1.0


@dataclass(frozen=True)
class Contest:
    """One job, given to us and to the peers.

    `make(rows)` builds the data; each runner does the whole job on it and returns the objective it reached.
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


@dataclass(frozen=True)
class Result:
    """Best times and objectives of every runner, and our times at half, all and twice the rows."""

    name: str
    times: dict[str, float]
    objectives: dict[str, float]
    goals: dict[str, float]
    equal: bool
    growth: dict[int, float]

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
            "objectives": self.objectives,
            "ratios": ratios,
            "goals": self.goals,
            "equal_objective": self.equal,
            "seconds_by_rows": self.growth,
            "exponent": self.exponent,
        }


def timed(run: Runner, data: Any) -> tuple[float, float]:
    """Seconds and objective of one run."""
    start = time.perf_counter()
    objective = run(data)
    return time.perf_counter() - start, objective


def compare(contest: Contest, *, growth: bool) -> Result:
    """Run everyone in turn, several rounds, and keep each one's best time."""
    data = contest.make(contest.rows)
    runners = {"latently": contest.ours, **contest.peers}
    contest.ours(contest.make(max(contest.rows // 20, 1000)))  # compiled before the clock starts
    rounds = [{name: timed(run, data) for name, run in runners.items()} for _ in range(contest.repeats)]
    times = {name: min(each[name][0] for each in rounds) for name in runners}
    objectives = {name: float(rounds[0][name][1]) for name in runners}
    ours = objectives["latently"]
    worst_gap = max(abs(other - ours) / max(abs(ours), 1e-300) for other in objectives.values())
    return Result(
        contest.name, times, objectives, contest.goals, bool(worst_gap <= contest.tolerance), _growth(contest, growth)
    )


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
    lines = [f"{'contest':<38}{'latently s':>10}  {'peer':<22}{'peer s':>10}{'ratio':>9}{'goal':>7}  objective  growth"]
    for result in results:
        for peer, seconds in result.times.items():
            if peer == "latently":
                continue
            goal = result.goals.get(peer)
            lines.append(
                f"{result.name:<38}{result.times['latently']:>10.4f}  {peer:<22}{seconds:>10.4f}"
                f"{result.ratio(peer):>8.1f}x{f'{goal:g}x' if goal else '-':>7}  "
                f"{'equal' if result.equal else 'DIFFERS':<9}  " + (f"{result.exponent:.2f}" if result.growth else "-")
            )
    return "\n".join(lines)
