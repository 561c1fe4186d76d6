"""Several starts, side by side, and the best of them."""

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from threading import Event
from typing import TypeVar

from latently.learn.checkpoint.checkpoint import branching
from latently.learn.engine.cores import n_threads, threads
from latently.learn.engine.em import ROUNDING
from latently.learn.engine.interrupt import interruptible

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

    After Ctrl-C no further start is begun, and the best of those that have come somewhere is kept.

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
    done, interrupted = _run_all(run, starts, side_by_side)
    if interrupted and not done:
        raise KeyboardInterrupt
    if interrupted and len(done) < len(starts):
        warnings.warn(f"interrupted after {len(done)} of {len(starts)} starts", RuntimeWarning, stacklevel=3)
    return first_best(done, score)


def outcomes(run: Callable[[Start], Outcome], starts: Sequence[Start], *, side_by_side: bool) -> list[Outcome]:
    """Give the outcome of every start, in order; see `best_of`.

    Examples
    --------
    >>> outcomes(lambda start: start * 2, [1, 3, 2], side_by_side=True)
    [2, 6, 4]
    """
    done, interrupted = _run_all(run, starts, side_by_side)
    if interrupted:
        raise KeyboardInterrupt
    return done


def _run_all(
    run: Callable[[Start], Outcome], starts: Sequence[Start], side_by_side: bool
) -> tuple[list[Outcome], bool]:
    """Outcomes of the starts, and whether Ctrl-C kept some of them from being run to their end."""
    enter = branching()

    def one(i: int) -> Outcome:
        with enter(i):
            return run(starts[i])

    with interruptible() as asked:
        if side_by_side and len(starts) > 1 and n_threads() > 1:
            done = _by_threads(one, len(starts), asked)
        else:
            done = _in_turn(one, len(starts), asked)
        return done, asked.is_set()


def _in_turn(one: Callable[[int], Outcome], n: int, asked: Event) -> list[Outcome]:
    done: list[Outcome] = []
    for i in range(n):
        if asked.is_set():
            break
        try:
            done.append(one(i))
        except KeyboardInterrupt:
            asked.set()
    return done


def _by_threads(one: Callable[[int], Outcome], n: int, asked: Event) -> list[Outcome]:
    def alone(i: int) -> Outcome:
        with threads(1):
            return one(i)

    with ThreadPoolExecutor(min(n_threads(), n)) as pool:
        futures = [pool.submit(copy_context().run, alone, i) for i in range(n)]
        try:
            wait(futures)
        except KeyboardInterrupt:
            # Only the main thread hears of it: the others look before each iteration.
            asked.set()
            for future in futures:
                future.cancel()
    return [future.result() for future in futures if not _was_interrupted(future)]


def _was_interrupted(future: "Future[Outcome]") -> bool:
    return future.cancelled() or isinstance(future.exception(), KeyboardInterrupt)


def first_best(outcomes: list[Outcome], score: Callable[[Outcome], float]) -> Outcome:
    """The outcome of the highest score, the first of equals (to rounding).

    Examples
    --------
    >>> first_best(["b", "a", "aa"], lambda word: word.count("a"))
    'aa'
    """
    scores = [score(outcome) for outcome in outcomes]
    enough = max(scores) - ROUNDING * abs(max(scores))
    return next(outcome for outcome, value in zip(outcomes, scores, strict=True) if value >= enough)
