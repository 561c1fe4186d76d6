"""From what a file holds back to an object. Every class is looked up, every field is asked for by name."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.storage import packing
from latently.data.storage.container import LoadError
from latently.persist.classes import class_of, former, is_estimator, is_record

_STREAMS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class Decoder:
    """Puts an object together from the JSON of an `Encoder` and its arrays.

    Examples
    --------
    >>> Decoder({}).decode({"kind": "tuple", "items": [1, 2]}, "pair")
    (1, 2)
    """

    def __init__(self, stored: dict[str, NDArray[Any]], maker: str = "an unknown program") -> None:
        self._stored, self._maker = stored, maker
        self._made: dict[str, NDArray[Any]] = {}
        self._built: dict[str, Any] = {}
        self._ways: dict[str, Callable[[dict[str, Any], str], Any]] = {
            "float": lambda node, path: _FLOATS[need(node, "value", path)],
            "tuple": lambda node, path: tuple(self._items(node, path)),
            "set": lambda node, path: set(self._items(node, path)),
            "frozenset": lambda node, path: frozenset(self._items(node, path)),
            "dict": self._dict,
            "array": self._array,
            "objects": self._objects,
            "scalar": lambda node, path: self.decode(need(node, "value", path), path)[()],
            "random_state": self._random_state,
            "generator": self._generator,
            "record": self._record,
            "estimator": self._estimator,
            "same": lambda node, path: need(self._built, need(node, "as", path), path),
        }

    def decode(self, node: Any, path: str) -> Any:
        """Give the object behind a piece of JSON; `path` says where it was found, for errors."""
        if isinstance(node, list):
            return [self.decode(item, f"{path}[{i}]") for i, item in enumerate(node)]
        if not isinstance(node, dict):
            return node
        kind = need(node, "kind", path)
        if not isinstance(kind, str) or kind not in self._ways:
            raise LoadError(f"{path} is of the unknown kind {kind!r}: the file was written by something else")
        try:
            return self._ways[kind](node, path)
        except LoadError:
            raise
        except Exception as problem:
            what = f"{type(problem).__name__}: {problem}"
            raise LoadError(f"{path} cannot be rebuilt from the file: {what}") from problem

    def _dict(self, node: dict[str, Any], path: str) -> dict[Any, Any]:
        # a value is known by its key, as in the encoder, so that a second mention of it is found
        pairs = [(self.decode(key, f"{path} key"), value) for key, value in need(node, "items", path)]
        return {key: self.decode(value, f"{path}[{key!r}]") for key, value in pairs}

    def _items(self, node: dict[str, Any], path: str) -> list[Any]:
        items: list[Any] = self.decode(list(need(node, "items", path)), path)
        return items

    def _array(self, node: dict[str, Any], path: str) -> NDArray[Any]:
        name = need(node, "name", path)
        if name not in self._made:
            self._made[name] = packing.unpack(need(self._stored, name, f"the arrays behind {path}"), node)
        return self._made[name]

    def _objects(self, node: dict[str, Any], path: str) -> NDArray[Any]:
        items = self._items(node, path)
        out = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            out[i] = item
        return out.reshape(need(node, "shape", path))

    def _random_state(self, node: dict[str, Any], path: str) -> np.random.RandomState:
        rng = np.random.RandomState()
        rng.set_state(self.decode(need(node, "state", path), path))
        return rng

    def _generator(self, node: dict[str, Any], path: str) -> np.random.Generator:
        state = self.decode(need(node, "state", path), path)
        if state["bit_generator"] not in _STREAMS:
            raise LoadError(f"{path} names the unknown random stream {state['bit_generator']!r}")
        stream = getattr(np.random, state["bit_generator"])()
        stream.state = state
        return np.random.Generator(stream)

    def _class(self, node: dict[str, Any], path: str) -> Any:
        return class_of(need(node, "class", path), path, self._maker)

    def _record(self, node: dict[str, Any], path: str) -> Any:
        if (read := former(node.get("class"))) is not None:
            self._built[path] = read(**self._named(need(node, "fields", path), path))
            return self._built[path]
        cls = self._class(node, path)
        if not is_record(cls):
            raise LoadError(f"{path} is saved as a record, but {cls.__name__} is none")
        values = self._named(need(node, "fields", path), path)
        fields = dataclasses.fields(cls)
        refuse_unknown(values, [f.name for f in fields], cls, path)
        for field in fields:
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                need(values, field.name, path)
        record = cls(**{f.name: values[f.name] for f in fields if f.init and f.name in values})
        for name, value in values.items():
            # what the constructor normalised is put back to the very bits that were saved
            object.__setattr__(record, name, value)
        self._built[path] = record
        return record

    def _estimator(self, node: dict[str, Any], path: str) -> Any:
        cls = self._class(node, path)
        if not is_estimator(cls):
            raise LoadError(f"{path} is saved as an estimator, but {cls.__name__} is none")
        renamed = getattr(cls, "_renamed_parameters", {})
        params = {
            renamed.get(name, name): value for name, value in self._named(need(node, "params", path), path).items()
        }
        known = inspect.signature(cls).parameters
        refuse_unknown(params, list(known), cls, path)
        for name, parameter in known.items():
            if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
                need(params, name, path)
        model = cls(**params)
        fitted = self._named(need(node, "fitted", path), path)
        for name in fitted:
            if not is_attribute(name, cls):
                raise LoadError(f"{path}.{name} is not the name of a fitted attribute of {cls.__name__}")
        if hasattr(model, "__setstate__"):
            model.__setstate__(vars(model) | fitted)
        else:
            vars(model).update(fitted)
        self._built[path] = model
        return model

    def _named(self, nodes: dict[str, Any], path: str) -> dict[str, Any]:
        return {name: self.decode(node, f"{path}.{name}") for name, node in nodes.items()}


def need(node: dict[str, Any], field: str, path: str) -> Any:
    """Value of a field that must be there."""
    if field not in node:
        raise LoadError(f"{path} lacks the field {field!r}: the file is incomplete; save the model again")
    return node[field]


def refuse_unknown(values: dict[str, Any], known: list[str], cls: type, path: str) -> None:
    """Raise an error for a field that the class here does not have."""
    for name in values:
        if name not in known:
            raise LoadError(
                f"{path}.{name} is not a parameter of {cls.__name__} in this version of latently: install the "
                "version that wrote the file (latently.persist.read_manifest says which)"
            )


def is_attribute(name: str, cls: type) -> bool:
    """Whether a name can be a fitted attribute: an identifier that hides no method and is not special."""
    special = name.startswith("__") and name.endswith("__")
    return name.isidentifier() and not special and not callable(getattr(cls, name, None))
