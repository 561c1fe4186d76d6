"""From an object to what a file can hold: a tree of JSON and arrays by name."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from latently.data.storage import packing
from latently.persist.classes import is_estimator, name_of

Json = Any


class Encoder:
    """Takes an object apart.

    Plain JSON values stand for themselves; everything else is an object with a `kind`. Arrays are collected
    in `arrays`. An array or a model that is referred to from several places is stored once.

    Examples
    --------
    >>> Encoder().encode((1, float("inf")), "pair")
    {'kind': 'tuple', 'items': [1, {'kind': 'float', 'value': 'inf'}]}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []  # an id means something only as long as its object lives
        self._open: set[int] = set()
        self._ways: tuple[tuple[Any, Callable[[Any, str], Json]], ...] = (
            (np.generic, self._scalar),
            (np.ndarray, self._array),
            (np.random.RandomState, self._random_state),
            (np.random.Generator, self._generator),
        )

    def encode(self, value: Any, path: str) -> Json:
        """Give the JSON of a value; `path` says where it was found, for errors."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}
        for kind, way in self._ways:
            if isinstance(value, kind):
                return way(value, path)
        with self._entering(value, path):
            return self._container(value, path)

    @contextmanager
    def _entering(self, value: Any, path: str) -> Iterator[None]:
        if id(value) in self._open:
            raise TypeError(f"{path} is part of a reference cycle, which cannot be saved")
        self._open.add(id(value))
        yield
        self._open.remove(id(value))

    def _container(self, value: Any, path: str) -> Json:
        if type(value) in (list, tuple, frozenset, set):
            items = [self.encode(item, f"{path}[{i}]") for i, item in enumerate(value)]
            return items if type(value) is list else {"kind": type(value).__name__, "items": items}
        if type(value) is dict:
            keys = [self.encode(k, f"{path} key {k!r}") for k in value]
            items = [self.encode(v, f"{path}[{k!r}]") for k, v in value.items()]
            return {"kind": "dict", "items": [list(pair) for pair in zip(keys, items, strict=True)]}
        return self._object(value, path)

    def _object(self, value: Any, path: str) -> Json:
        if id(value) in self._names:
            return {"kind": "same", "as": self._names[id(value)]}
        name = name_of(type(value))
        if name is None:
            what = f"{type(value).__module__}.{type(value).__qualname__}"
            raise TypeError(
                f"{path} is a {what}, which cannot be saved without running code on loading: replace it, "
                "register its class if it is a frozen dataclass or an estimator of your own "
                "(latently.persist.register), or use pickle for files that you trust"
            )
        self._keep(value, path)
        if is_estimator(type(value)):
            return self._estimator(value, name, path)
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"kind": "record", "class": name, "fields": self._named(fields, path)}

    def _estimator(self, value: Any, name: str, path: str) -> Json:
        params = value.get_params(deep=False)
        state = value.__getstate__() or {}  # a class may leave out what it can do without, as for pickle
        fitted = {k: v for k, v in state.items() if k not in params}
        return {
            "kind": "estimator",
            "class": name,
            "params": self._named(params, path),
            "fitted": self._named(fitted, path),
        }

    def _named(self, values: dict[str, Any], path: str) -> dict[str, Json]:
        return {name: self.encode(value, f"{path}.{name}") for name, value in values.items()}

    def _array(self, value: np.ndarray, path: str) -> Json:
        if type(value) is np.ndarray and value.dtype.kind == "O":
            items = [self.encode(item, f"{path}[{i}]") for i, item in enumerate(value.ravel().tolist())]
            return {"kind": "objects", "shape": list(value.shape), "items": items}
        if not packing.can_pack(value):
            what = f"{type(value).__name__} of dtype {value.dtype}"
            raise TypeError(f"{path} is a {what}, which cannot be saved: make it a plain array")
        if id(value) not in self._names:
            label = path.encode("ascii", "backslashreplace").decode()
            self._keep(value, label if label not in self.arrays else f"{label} ({len(self.arrays)})")
        name = self._names[id(value)]
        self.arrays[name], about = packing.pack(value)
        return {"kind": "array", "name": name, **about}

    def _keep(self, value: Any, name: str) -> None:
        self._kept.append(value)
        self._names[id(value)] = name

    def _scalar(self, value: np.generic, path: str) -> Json:
        return {"kind": "scalar", "value": self._array(np.asarray(value), path)}

    def _random_state(self, value: np.random.RandomState, path: str) -> Json:
        return {"kind": "random_state", "state": self.encode(value.get_state(legacy=False), path)}

    def _generator(self, value: np.random.Generator, path: str) -> Json:
        return {"kind": "generator", "state": self.encode(value.bit_generator.state, path)}
