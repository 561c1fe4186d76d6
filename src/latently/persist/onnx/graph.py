"""An ONNX graph, built node by node."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

OPSET: Final = 18
ML_OPSET: Final = 5  # the first with trees of double precision
_IR_VERSION: Final = 9


class Graph:
    """Nodes, constants, inputs and outputs of a graph; values are known by their names."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def constant(self, values: ArrayLike) -> str:
        """Add an array and give its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self._constants)}"
        array = np.asarray(values, order="C")
        array = array.astype(object) if array.dtype.kind == "U" else array
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *inputs: str | ArrayLike, domain: str = "", outputs: int = 1, **attributes: Any) -> str:
        """Add a node and give the name of its first output; inputs that are not names are constants."""
        from onnx import helper

        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        made = [f"{kind.lower()}_{len(self._nodes)}{f'_{i}' if i else ''}" for i in range(outputs)]
        self._nodes.append(helper.make_node(kind, names, made, domain=domain, **attributes))
        return made[0]

    def read(self, name: str, dtype: Any, width: int) -> str:
        """Add an input of (rows, width) values."""
        self._inputs.append(_described(name, dtype, ["rows", width]))
        return name

    def give(self, name: str, value: str, dtype: Any, width: int | None = None) -> None:
        """Name a value as an output: (rows,), or (rows, width)."""
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(_described(name, dtype, ["rows"] if width is None else ["rows", width]))

    def model(self, name: str, producer: str, version: str) -> Any:
        """The finished graph, checked, as an `onnx.ModelProto`."""
        from onnx import checker, helper

        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name=producer, producer_version=version
        )
        checker.check_model(made)
        return made

    # arithmetic that several models need

    def observed(self, X: str) -> tuple[str, str]:
        """A table with zeros where a value is missing, and one with ones where it is observed."""
        missing = self.add("IsNaN", X)
        filled = self.add("Where", missing, np.float64(0.0), X)
        return filled, self.add("Cast", self.add("Not", missing), to=_type(np.float64))

    def columns(self, X: str, places: ArrayLike) -> str:
        """Some columns of a table."""
        return self.add("Gather", X, np.asarray(places, dtype=np.int64), axis=1)

    def total(self, values: list[str]) -> str:
        """The sum of several values of one shape."""
        return values[0] if len(values) == 1 else self.add("Sum", *values)

    def row_sums(self, value: str) -> str:
        """(rows, 1) sums over the columns."""
        return self.add("ReduceSum", value, np.array([1], dtype=np.int64), keepdims=1)

    def picked(self, place: str, names: NDArray[Any]) -> str:
        """The names that stand at some places."""
        return self.add("Gather", _plain(names), place, axis=0)


def label_type(names: NDArray[Any]) -> Any:
    """The type of labels in a graph: whole numbers, floats or strings."""
    return _plain(names).dtype if names.dtype.kind in "biuf" else np.str_


def _plain(names: NDArray[Any]) -> NDArray[Any]:
    if names.dtype.kind in "iu":
        return names.astype(np.int64)
    if names.dtype.kind in "bf":
        return names
    return names.astype(str)


def _type(dtype: Any) -> int:
    from onnx import TensorProto, helper

    kind = np.dtype(dtype)
    return int(TensorProto.STRING) if kind.kind in "UO" else int(helper.np_dtype_to_tensor_dtype(kind))


def _described(name: str, dtype: Any, shape: list[Any]) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, _type(dtype), shape)
