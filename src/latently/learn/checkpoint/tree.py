"""Parameters taken apart for a file and put together again, and fingerprints of what a fit is made of.

A file names classes, but none is ever looked up by a name in a file: only those that the fit at hand starts with are
used, and only their fields are filled.
"""

import dataclasses
import hashlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.storage import packing
from latently.data.storage.container import Arrays, LoadError

_PLAIN = (bool, int, str)
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def taken_apart(value: Any, arrays: Arrays, path: str = "params") -> Any:
    """Give a value as JSON; arrays go to `arrays` by name.

    Examples
    --------
    >>> arrays = {}
    >>> taken_apart((1, np.zeros(2)), arrays)
    {'tuple': [1, {'array': 'params[1]', 'dtype': '<f8', 'shape': [2]}]}
    """
    if value is None or type(value) in _PLAIN:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray | np.generic):
        return _array(value, arrays, path)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"class": _name(type(value)), "fields": _each(fields, arrays, path)}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": _each(value, arrays, path)}
    if isinstance(value, list | tuple):
        items = [taken_apart(item, arrays, f"{path}[{i}]") for i, item in enumerate(value)]
        return items if type(value) is list else {_tuple_name(type(value)): items}
    raise TypeError(
        f"{path} is a {type(value).__name__}, which a checkpoint cannot hold: parameters are numbers, arrays, tuples, "
        "lists, dicts by name and dataclasses of those"
    )


def _each(values: dict[str, Any], arrays: Arrays, path: str) -> dict[str, Any]:
    return {name: taken_apart(value, arrays, f"{path}.{name}") for name, value in values.items()}


def _array(value: Any, arrays: Arrays, path: str) -> dict[str, Any]:
    array = np.asarray(value)
    if not packing.can_pack(array):
        raise TypeError(f"{path} is an array of {array.dtype}, which a checkpoint cannot hold")
    arrays[path], about = packing.pack(array)
    return {"array" if isinstance(value, np.ndarray) else "scalar": path, **about}


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _tuple_name(cls: type) -> str:
    return "tuple" if cls is tuple else f"tuple {_name(cls)}"


def put_together(node: Any, arrays: Arrays, like: Any) -> Any:
    """Give the value behind what `taken_apart` made, with the classes that are found inside `like`.

    Examples
    --------
    >>> arrays = {}
    >>> put_together(taken_apart([1.5, (2,)], arrays), arrays, None)
    [1.5, (2,)]
    """
    return _Builder(arrays, {_name(cls): cls for cls in _classes(like)}).build(node)


class _Builder:
    def __init__(self, arrays: Arrays, classes: dict[str, type]) -> None:
        self.arrays, self.classes = arrays, classes

    def build(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.build(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "class" in node:
            return self._record(self._class(node["class"]), node["fields"])
        if "array" in node or "scalar" in node:
            array = packing.unpack(self.arrays[node["array" if "array" in node else "scalar"]], node)
            return array if "array" in node else array[()]
        ((kind, inside),) = node.items()
        if kind == "float":
            return _FLOATS[inside]
        if kind == "dict":
            return {key: self.build(item) for key, item in inside.items()}
        items = [self.build(item) for item in inside]
        return tuple(items) if kind == "tuple" else self._class(kind.removeprefix("tuple "))._make(items)

    def _class(self, name: str) -> Any:
        if name not in self.classes:
            raise LoadError(f"the checkpoint holds a {name}, which is no part of the parameters this fit starts from")
        return self.classes[name]

    def _record(self, cls: Any, nodes: dict[str, Any]) -> Any:
        values = {name: self.build(node) for name, node in nodes.items()}
        fields = dataclasses.fields(cls)
        if {f.name for f in fields} != values.keys():
            raise LoadError(f"the checkpoint's {cls.__name__} has other fields: it was written by another version")
        record = cls(**{f.name: values[f.name] for f in fields if f.init})
        for name, value in values.items():
            object.__setattr__(record, name, value)  # the very bits, whatever the constructor made of them
        return record


def _classes(value: Any) -> Iterator[type]:
    """Walk through the classes of records inside a value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        value = [getattr(value, f.name) for f in dataclasses.fields(value)]
    elif isinstance(value, tuple) and type(value) is not tuple:
        yield type(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _classes(item)


def fingerprint(value: Any) -> str:
    """Give a short text that is another one if anything inside a value is: bits of arrays, settings, classes.

    Functions and objects that hold no data of their own count by their names.

    Examples
    --------
    >>> fingerprint((1, np.zeros(2))) == fingerprint((1, np.zeros(2)))
    True
    >>> fingerprint((1, np.zeros(2))) == fingerprint((1, np.array([0.0, 1e-300])))
    False
    """
    digest = hashlib.sha256()
    for part in _bytes_of(value, ()):
        digest.update(part)
    return digest.hexdigest()[:32]


def _bytes_of(value: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    if isinstance(value, np.ndarray | np.generic) and np.asarray(value).dtype.kind != "O":
        yield from _array_bytes(np.asarray(value))
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield f"{type(value).__name__}:{value!r};".encode()
    elif isinstance(value, np.ndarray | list | tuple):
        yield f"{type(value).__name__}{len(value)}(".encode()
        for item in value:
            yield from _bytes_of(item, (*above, id(value)))
    elif isinstance(value, dict):
        yield from _bytes_of([part for item in value.items() for part in item], above)
    elif id(value) in above or callable(value) or not hasattr(value, "__dict__"):
        yield _named(value)
    else:
        yield _name(type(value)).encode()
        yield from _bytes_of(_state(value), (*above, id(value)))


def _array_bytes(array: NDArray[Any]) -> Iterator[bytes]:
    yield f"{array.dtype.str}{array.shape}".encode()
    yield np.ascontiguousarray(array).tobytes()


def _named(value: Any) -> bytes:
    # What is called is a function to the model, whoever computes it: threads here, or a cluster.
    other = "function" if callable(value) else _name(type(value))
    return f"<{getattr(value, '__qualname__', other)}>".encode()


def _state(value: Any) -> dict[str, Any]:
    """What an object holds, without what it has worked out from that and kept."""
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return dict(sorted(vars(value).items()))
