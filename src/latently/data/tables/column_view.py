"""One column of any table, whoever made it."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latently.data.tables.values import ENCODE_HINT, is_missing, to_floats

_PYTHON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "boolean": (bool,),
    "text": (str,),
    "levels": (str,),
    "float": (int, float),
}


@dataclass(frozen=True, eq=False)
class ColumnView:
    """One column of any table, whoever made it.

    Parameters
    ----------
    name
        Its name.
    kind
        One of float, integer, boolean, text, levels, ordered, date, object.
    data
        A narwhals series or a one-dimensional array.
    levels
        The declared levels of a categorical type, empty if the type declares none.
    type_name
        What its own library calls its type, for errors.
    """

    name: str
    kind: str
    data: Any
    levels: tuple[Any, ...] = ()
    type_name: str = ""

    def to_list(self) -> list[Any]:
        """Give the values as Python objects."""
        values = self.data.tolist() if isinstance(self.data, np.ndarray) else self.data.to_list()
        return list(values)

    def to_floats(self, where: str) -> NDArray[np.floating[Any]]:
        """Give the values as floats, with NaN for what is missing; an error if they are not numbers."""
        if self.kind in ("date", "text", "levels", "ordered"):
            what = "dates or times" if self.kind == "date" else "strings"
            raise ValueError(f"{where} holds {what} ({self.type_name}): {ENCODE_HINT}")
        values = self.data if isinstance(self.data, np.ndarray) else self.data.to_numpy()
        if values.dtype.kind not in "biuf":
            return to_floats(values, where)
        return values if values.dtype in (np.float64, np.float32) else values.astype(np.float64)

    def holds(self, values: list[Any]) -> bool:
        """Whether the type of this column has room for all of the values."""
        present = [v for v in values if not is_missing(v)]
        if self.kind in ("integer", "boolean") and len(present) < len(values) and not self.nullable:
            return False
        if self.kind == "integer":
            return all(self._holds_integer(v) for v in present)
        if self.kind in ("levels", "ordered") and self.levels:
            return set(present) <= set(self.levels)
        wanted = _PYTHON_TYPES.get(self.kind, ())
        return all(isinstance(v, wanted) for v in present)

    @property
    def nullable(self) -> bool:
        """Whether integers and truth values of this column may be missing: not in a numpy type."""
        return not isinstance(getattr(self.data.to_native(), "dtype", None), np.dtype)

    def _holds_integer(self, value: Any) -> bool:
        if not isinstance(value, int | float) or not float(value).is_integer():
            return False
        bits = int(str(self.data.dtype).lstrip("UInt"))
        if self.data.dtype.is_signed_integer():
            return bool(-(1 << bits - 1) <= value < 1 << bits - 1)
        return bool(0 <= value < 1 << bits)
