"""Fits of many passes that keep no checkpoints: being asked for one is an error, not a silence."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any


class NoCheckpoints:
    """Base of estimators whose fit cannot be stored while it is under way."""

    def _storing(self, path: Any, every: int) -> AbstractContextManager[Any]:
        if path is not None:
            raise ValueError(f"{type(self).__name__} keeps no checkpoints: fit it without checkpoint=")
        return nullcontext()
