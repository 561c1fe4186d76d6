"""What every estimator's skin does first: read the table, remember its columns, say what is wrong with it."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state, validate_data

from tacit.data.matrix import FloatArray, as_matrix


def read_rows(estimator: Any, X: Any, *, reset: bool, allow_nan: bool = False, min_rows: int = 1) -> FloatArray:
    """The checked float table of `X`; sets (or compares) the estimator's number and names of columns."""
    rows = as_matrix(X, allow_nan=allow_nan, min_rows=min_rows)
    validate_data(estimator, X if hasattr(X, "shape") else rows, reset=reset, skip_check_array=True)
    return rows


def seeds(random_state: Any, n: int) -> list[np.random.RandomState]:
    """Independent generators for `n` restarts, all drawn before the first one runs."""
    rng = check_random_state(random_state)
    return [np.random.RandomState(rng.randint(np.iinfo(np.int32).max)) for _ in range(n)]
