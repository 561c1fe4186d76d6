"""Several starts, side by side, and the best of them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tacit.learn.em import ROUNDING
from tacit.learn.reduce import n_threads, threads

Start = TypeVar("Start")
Outcome = TypeVar("Outcome")


def best_of(
    run: Callable[[Start], Outcome],
    starts: Sequence[Start],
    score: Callable[[Outcome], float],
    *,
    side_by_side: bool,
) -> Outcome:
    """Run every start and keep the outcome of the highest score; the first of equals (to rounding) wins.

    Parameters
    ----------
    run
        From a start to an outcome.
    starts
        One per restart; what is random was drawn before, so the order of running does not matter.
    score
        What to maximise.
    side_by_side
        Run the restarts in parallel, one thread each (good for small data), instead of one after the other
        with all threads inside (good for large data).

    Examples
    --------
    >>> best_of(lambda start: start * 2, [1, 3, 2], float, side_by_side=False)
    6
    """
    return _first_best(outcomes(run, starts, side_by_side=side_by_side), score)


def outcomes(run: Callable[[Start], Outcome], starts: Sequence[Start], *, side_by_side: bool) -> list[Outcome]:
    """Give the outcome of every start, in order; see `best_of`.

    Examples
    --------
    >>> outcomes(lambda start: start * 2, [1, 3, 2], side_by_side=True)
    [2, 6, 4]
    """
    if not side_by_side or len(starts) <= 1 or n_threads() == 1:
        return [run(start) for start in starts]

    def alone(start: Start) -> Outcome:
        with threads(1):
            return run(start)

    with ThreadPoolExecutor(min(n_threads(), len(starts))) as pool:
        return list(pool.map(alone, starts))


def _first_best(outcomes: list[Outcome], score: Callable[[Outcome], float]) -> Outcome:
    scores = [score(outcome) for outcome in outcomes]
    enough = max(scores) - ROUNDING * abs(max(scores))
    return next(outcome for outcome, value in zip(outcomes, scores, strict=True) if value >= enough)
