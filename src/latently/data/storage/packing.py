"""Arrays as safetensors can hold them: any numeric or text type, in either memory order, to the last bit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Types that safetensors has itself; others travel as their bytes.
_NATIVE = frozenset(np.dtype(code).str for code in "bBhHiIlLqQefd?")
_KINDS = "biufcmMSU"


def can_pack(array: NDArray[Any]) -> bool:
    """Whether the entries of an array are plain bytes."""
    return type(array) is np.ndarray and array.dtype.kind in _KINDS


def pack(array: NDArray[Any]) -> tuple[NDArray[Any], dict[str, Any]]:
    """Give an array for the file, and a description that `unpack` needs to bring it back.

    Examples
    --------
    >>> stored, about = pack(np.array(["a", "bc"]))
    >>> stored.dtype, about["dtype"], about["shape"]
    (dtype('uint8'), '<U2', [2])
    >>> unpack(stored, about)
    array(['a', 'bc'], dtype='<U2')
    """
    about: dict[str, Any] = {"dtype": array.dtype.str, "shape": list(array.shape)}
    if not array.flags.c_contiguous and array.flags.f_contiguous:
        about["order"] = "F"  # kept, because matrix products round differently in the other order
    if not array.flags.writeable:
        about["readonly"] = True
    plain = np.array(array, order="C")
    return plain if array.dtype.str in _NATIVE else np.frombuffer(plain.tobytes(), np.uint8), about


def unpack(stored: NDArray[Any], about: dict[str, Any]) -> NDArray[Any]:
    """Give back the array behind what `pack` made of it."""
    dtype = np.dtype(about["dtype"])
    if dtype.kind not in _KINDS:
        raise ValueError(f"an array of type {dtype} cannot come from a file")
    values = np.frombuffer(np.ascontiguousarray(stored).tobytes(), dtype).reshape(about["shape"])
    array = np.array(values, order=about.get("order", "C"))
    array.flags.writeable = not about.get("readonly", False)
    return array
