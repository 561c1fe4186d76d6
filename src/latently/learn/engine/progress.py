"""A progress bar as an `on_iteration` hook, on a terminal only: iterations, objective and rows per second."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from latently.learn.engine.em import Hook, Step

Draw = Callable[..., None]  # how much is done, a note, a rate


@contextmanager
def progress(title: str, max_iter: int, verbose: int | bool) -> Iterator[Hook | None]:
    """Yield a hook that draws one bar for a long fit; None when silent or when nobody is looking."""
    with drawn(title, max_iter, verbose) as draw:
        if draw is None:
            yield None
            return
        clock = _Clock()

        def on_iteration(step: Step[Any, Any]) -> None:
            per_row, rate = step.objective / step.stats.rows, step.stats.rows / clock.lap()
            draw(step.iteration, f"{per_row:.6g} per row", f"{rate:.3g} rows/s")

        yield on_iteration


@contextmanager
def drawn(title: str, total: int, verbose: int | bool) -> Iterator[Draw | None]:
    """Yield a function that draws how much of a total is done; None when silent or when nobody is looking."""
    if not verbose:
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with _bar(console) as bar:
        task = bar.add_task(title, total=total, objective="", rate="")
        yield lambda done, note="", rate="": bar.update(task, completed=done, objective=note, rate=rate)


class _Clock:
    """Seconds from one look to the next."""

    def __init__(self) -> None:
        self._before = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        passed, self._before = now - self._before, now
        return max(passed, 1e-9)


def _bar(console: Any) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[objective]}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=console,
    )


def both(*hooks: Hook | None) -> Hook | None:
    """One hook that calls each of those given; it asks to stop if any of them does."""
    given = [hook for hook in hooks if hook is not None]
    if not given:
        return None
    return lambda step: any([hook(step) for hook in given])  # noqa: C419 - every hook is called
