"""Garbage waits while a kernel compiles.

A compiler makes millions of objects that stay, and looking through them for garbage again and again takes an eighth
of its time. Only kernels of this package are meant: whatever else is compiled is none of our business.
"""

import gc
from typing import Any

from numba.core import event


class Patience(event.Listener):
    """Holds the collector back from the beginning of a compilation to its end; one inside another changes nothing."""

    def __init__(self) -> None:
        self._depth, self._was_on = 0, False

    def on_start(self, event: Any) -> None:
        """A function is about to be compiled."""
        if not _is_ours(event):
            return
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """It has been compiled, or could not be."""
        if not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("latently.compiled.")


event.register("numba:compile", Patience())
