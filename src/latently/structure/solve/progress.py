"""Hooks, reasons to end, and checkpoints of the algorithms."""

from collections.abc import Callable
from typing import Any

from latently.learn.checkpoint.checkpoint import Saved, Slot

Hook = Callable[[int, float, float], bool | None]
"""Called with the iteration, the primal objective (or an estimate) and the relative gap; a true value stops."""


def reason_to_end(is_solved: bool, is_last: bool, stopped: bool) -> str | None:
    """Why an iteration is the last; None if it is not."""
    if is_solved:
        return "converged"
    if stopped:
        return "stopped"
    return "max_iter" if is_last else None


def resumed(slot: Slot | None, like: Any) -> Saved | None:
    """What was saved in a slot, if anything; `like` is a state of the same make."""
    if slot is None:
        return None
    slot.start = like
    return slot.resume()


def store(
    slot: Slot,
    state: Callable[[], Any],
    objectives: Callable[[], tuple[float, float]],
    trace: list[float],
    reason: str | None,
) -> None:
    """Save a state where it is due, with its primal objective, by which other data are noticed."""
    ended = reason in ("converged", "max_iter") and len(trace) >= slot.every
    if ended or slot.is_due(len(trace)):
        slot.save(state(), (*trace, objectives()[0]), reason if ended else None)
