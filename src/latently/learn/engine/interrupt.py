"""Ctrl-C: a fit that has come somewhere ends there, and nothing further is begun."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_asked: ContextVar[threading.Event | None] = ContextVar("latently_interrupt", default=None)


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Yield what is set once somebody wants all fits inside this block to end; a block inside shares it."""
    event = _asked.get() or threading.Event()
    token = _asked.set(event)
    try:
        yield event
    finally:
        _asked.reset(token)


def is_interrupted() -> bool:
    """Whether fits here are to end."""
    event = _asked.get()
    return event is not None and event.is_set()


def interrupt() -> None:
    """Notify the fits that run beside this one, and their caller."""
    event = _asked.get()
    if event is not None:
        event.set()
