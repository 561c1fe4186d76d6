"""Checkpoints: a fit that is killed goes on where it was, and ends with the same parameters.

Inside `checkpointing(path, every)` each run of `em` keeps a file of its own in the folder `path`, with the parameters
before its latest saved iteration and the trace up to there. The same call, made again, computes everything up to the
start of `em` as before (it is the same arithmetic, so it comes to the same bits), then repeats the saved iteration and
goes on. That iteration's objective must come out as it was saved: other data are noticed. Runs are identified by their
place in the fit (third restart, second run inside it), not by when they happen to run.
"""

import math
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from latently.data.storage import container
from latently.data.storage.container import Arrays, LoadError
from latently.learn.checkpoint.tree import fingerprint, put_together, taken_apart

_FORMAT = 1
# Relative difference of two sums over the same rows in other chunks, at most.
_SAME = 1e-9


class CheckpointWarning(UserWarning):
    """A checkpoint could not be read or written; the fit goes on."""


class CheckpointMismatch(ValueError):
    """A checkpoint belongs to another fit: other data, another model, other settings."""


@dataclass(frozen=True)
class _Scope:
    """Where in a fit we are: which folder, and which restart of which run."""

    folder: Path
    every: int
    path: tuple[int, ...] = ()
    runs: Iterator[int] = field(default_factory=count)

    def inside(self, *path: int) -> "_Scope":
        return _Scope(self.folder, self.every, (*self.path, *path))


_scope: ContextVar[_Scope | None] = ContextVar("latently_checkpoint", default=None)


@contextmanager
def checkpointing(path: str | os.PathLike[str] | None, every: int = 10) -> Iterator[None]:
    """Save fits inside a `with` block every so many iterations, and go on from what was saved before.

    A fit that has ended is left as it is: the same call again repeats its last iteration only, and gives the same
    result. To start anew, delete the folder. A run of fewer than `every` iterations is not saved at all: it is
    repeated as it was.

    Parameters
    ----------
    path
        A folder, which is made if it is not there; give every fit its own. None to save nothing.
    every
        Iterations between two saves.

    Raises
    ------
    CheckpointMismatch
        If the folder belongs to a fit of another model, to other data or with other settings.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from latently.cluster import GaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = GaussianMixture(3, tol=1e-6, max_iter=500, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with checkpointing(folder, every=5):
    ...         once = model.fit(X).means_
    ...     with checkpointing(folder, every=5):
    ...         again = model.fit(X).means_  # a single iteration
    >>> np.array_equal(once, again)
    True
    """
    if path is None:
        yield
        return
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"every must be a positive number of iterations, got {every!r}")
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"the checkpoint {folder} is a file, but a folder is needed: give another path")
    folder.mkdir(parents=True, exist_ok=True)
    with _entered(_Scope(folder, every)):
        yield


def is_checkpointing() -> bool:
    """Whether fits are saved here, so that they have to go through `em`."""
    return _scope.get() is not None


@contextmanager
def _entered(scope: _Scope) -> Iterator[None]:
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def branching() -> Callable[[int], AbstractContextManager[None]]:
    """Give a function that enters restart i, for several restarts that belong together."""
    scope = _scope.get()
    if scope is None:
        return lambda i: nullcontext()
    run = next(scope.runs)
    return lambda i: _entered(scope.inside(run, i))


@dataclass(frozen=True)
class Saved:
    """Parameters before an iteration, objectives up to this iteration, and why it was the last (None if not)."""

    params: Any
    trace: tuple[float, ...]
    reason: str | None


class Slot:
    """The checkpoint of one run.

    Parameters
    ----------
    file
        Where it is kept; the one before is beside it.
    every
        Iterations between two saves.
    about
        What the run is made of: it must be the same when the run goes on.
    start
        Parameters that the run starts from; it says what classes parameters are made of.
    """

    def __init__(self, file: Path, every: int, about: dict[str, Any], start: Any) -> None:
        self.file, self.every, self.about, self.start = file, every, about, start
        self.before = file.with_suffix(".before")
        self._expected: float | None = None
        self._saved_at = 0

    def resume(self) -> Saved | None:
        """Give what was saved last and is whole; None if there is nothing."""
        for file in (self.file, self.before):
            if not file.exists():
                continue
            try:
                saved = self._read(file)
            except LoadError as problem:
                warnings.warn(f"{problem}; the checkpoint before it is used, if any", CheckpointWarning, stacklevel=6)
                continue
            self._expected, self._saved_at = saved.trace[-1], len(saved.trace)
            return saved
        return None

    def _read(self, file: Path) -> Saved:
        manifest, arrays = container.read(file)
        if manifest.get("checkpoint") != _FORMAT:
            raise LoadError(f"{file} is not a checkpoint of this version of latently")
        self._refuse_other(manifest["about"], file)
        params = put_together(manifest["params"], arrays, self.start)
        return Saved(params, tuple(map(float.fromhex, manifest["trace"])), manifest["reason"])

    def _refuse_other(self, about: dict[str, Any], file: Path) -> None:
        changed = [key for key, value in self.about.items() if about.get(key) != value]
        other = [f"{key} was {about.get(key)}, is {self.about[key]}" for key in changed]
        if other:
            raise CheckpointMismatch(
                f"{file} belongs to another fit ({'; '.join(other)}): make the same call as before, with the same "
                "random_state (a number), rows and chunks; or give another path, or delete the folder to start anew"
            )

    def is_due(self, iteration: int) -> bool:
        """Whether an iteration is to be saved."""
        return iteration % self.every == 0

    def settled(self, params: Any) -> Any:
        """Give parameters as they would come back from the file: to the bit, and in the same memory order."""
        arrays: Arrays = {}
        return put_together(taken_apart(params, arrays), arrays, params)

    def check(self, objective: float) -> None:
        """See that the repeated iteration comes out as it was saved."""
        expected, self._expected = self._expected, None
        if expected is not None and not math.isclose(objective, expected, rel_tol=_SAME, abs_tol=_SAME):
            raise CheckpointMismatch(
                f"{self.file} was made with other data: its objective was {expected!r}, with these rows it is "
                f"{objective!r}; give another path, or delete the folder to start anew"
            )

    def take(self, params: Any, trace: tuple[float, ...], reason: str | None) -> None:
        """Save an iteration, if it is time to; the last one of a run that was saved before, always."""
        ended = reason in ("converged", "max_iter") and len(trace) >= self.every
        if ended or reason == "interrupted" or self.is_due(len(trace)):
            self.save(params, trace, reason if ended else None)

    def save(self, params: Any, trace: tuple[float, ...], reason: str | None) -> None:
        """Write the checkpoint; if that cannot be done, warn and keep the one that is there."""
        arrays: Arrays = {}
        tree = taken_apart(params, arrays)
        manifest = {
            "checkpoint": _FORMAT,
            "about": self.about,
            "params": tree,
            "trace": [value.hex() for value in trace],
            "reason": reason,
        }
        try:
            container.write(self.file, manifest, arrays, before=self.before)
        except OSError as problem:
            last = f"of iteration {self._saved_at} is whole" if self._saved_at else "does not exist yet"
            warnings.warn(
                f"the checkpoint {self.file} of iteration {len(trace)} could not be written ({problem.strerror}); the "
                f"fit goes on, and the checkpoint {last}",
                CheckpointWarning,
                stacklevel=6,
            )
        else:
            self._saved_at = len(trace)


def open_slot(model: Any, start: Any, reduce: Any, **settings: Any) -> Slot | None:
    """Give the place where a run is kept; None outside of `checkpointing`."""
    scope = _scope.get()
    if scope is None:
        return None
    source = getattr(reduce, "source", None)
    about = {
        "model": f"{type(model).__module__}.{type(model).__qualname__}",
        "model's settings": fingerprint(model),
        "start": fingerprint(start),
        "rows": getattr(source, "n_rows", None),
        "columns": list(getattr(source, "column_names", ())),
        **settings,
    }
    name = "-".join(map(str, (*scope.path, next(scope.runs))))
    return Slot(scope.folder / f"run-{name}.safetensors", scope.every, about, start)
