"""Laws about tables as they come: a defined result, or an error that names the column."""

import importlib
import re
import warnings
from typing import Any
from unittest import SkipTest

import numpy as np

from latently.checks.case import Array, Case, assert_close
from latently.checks.fitting import assert_no_nan
from latently.checks.law import law


def _attempt(case: Case, X: Array, y: Any, names: str) -> Any:
    """Fit; give the model, or None if it was refused by an error that names what is wrong."""
    try:
        return case.fitted(X, y)
    except ValueError as problem:
        message = str(problem)
    if not re.search(names, message):
        raise AssertionError(f"the error does not name the culprit (as {names}): {message}")
    return None


def _last_column(case: Case) -> str:
    """How an error may call the last column."""
    j = case.X.shape[1] - 1
    return rf"x{j}\b|column {j}\b|feature {j}\b"


def _defined_or_named(case: Case, X: Array, y: Any, names: str = "") -> Any:
    model = _attempt(case, X, y, names or _last_column(case))
    if model is not None:
        assert_no_nan(model)
        _assert_answers(case, model, X)
    return model


def _assert_answers(case: Case, model: Any, X: Array) -> None:
    for verb, answer in case.answers(model, X).items():
        # what a transformer makes of a missing value may well be missing
        if answer.dtype.kind == "f" and verb != "transform":
            assert not np.isnan(answer).any(), f"{verb} gives NaN"


def _with_last(case: Case, value: float, rows: slice) -> Array:
    X = case.X.astype(float)
    X[rows, -1] = value
    return X


@law("fit")
def law_missing_values_are_handled_or_named(case: Case) -> None:
    """Missing values in a column: answers without NaN, or a ValueError that names the column."""
    _defined_or_named(case, _with_last(case, np.nan, slice(5, 15)), case.y)


@law("fit")
def law_a_column_of_nan_is_handled_or_named(case: Case) -> None:
    """Columns of nothing but NaN: answers without NaN, or a ValueError that names the column."""
    _defined_or_named(case, _with_last(case, np.nan, slice(None)), case.y)


@law("fit")
def law_inf_is_refused(case: Case) -> None:
    """Infinite values are a ValueError that names the column."""
    for value in (np.inf, -np.inf):
        model = _attempt(case, _with_last(case, value, slice(3, 4)), case.y, _last_column(case))
        assert model is None, f"{value} in the table went unnoticed"


@law("fit")
def law_a_constant_column_is_handled_or_named(case: Case) -> None:
    """Constant columns: fitted numbers and answers without NaN, or a ValueError that names the column."""
    _defined_or_named(case, _with_last(case, 1.0, slice(None)), case.y)


@law("fit")
def law_a_constant_table_is_handled_or_refused(case: Case) -> None:
    """Constant tables: fitted numbers and answers without NaN, or a ValueError that says so."""
    _defined_or_named(case, np.ones_like(case.X), case.y, r"distinct|constant|x0|column")


@law("fit")
def law_an_empty_table_is_refused(case: Case) -> None:
    """Empty tables are a ValueError that says so."""
    y = None if case.y is None else case.y[:0]
    model = _attempt(case, case.X[:0], y, r"\b0 (sample|row)|empty|no rows")
    assert model is None, "an empty table went unnoticed"


@law("fit")
def law_one_row_is_handled_or_refused(case: Case) -> None:
    """One row: fitted numbers and answers without NaN, or a ValueError that says what is lacking."""
    _defined_or_named(case, case.X[:1], None if case.y is None else case.y[:1], r"sample|row|class|constant")


@law("fit", when=lambda case: case.continuous)
def law_far_from_zero_is_as_good_as_near(case: Case) -> None:
    """Offsets of 1e8 give finite results; clusterers and densities find the same groups."""
    moved = case.X + 1e8
    model = _defined_or_named(case, moved, case.y)
    assert model is not None, "a table shifted by 1e8 was refused"
    if case.tags.estimator_type in ("clusterer", "density_estimator") and case.has("predict"):
        near, far = case.fitted().predict(case.X).tolist(), model.predict(moved).tolist()
        pairs = len(set(zip(near, far, strict=True)))
        assert pairs == len(set(near)) == len(set(far)), "a shift by 1e8 changed the groups"


@law("predict", when=lambda case: bool(case.tags.input_tags.categorical))
def law_unseen_categories_are_handled_or_named(case: Case) -> None:
    """Unseen categories: answers without NaN, or a ValueError that names the column."""
    model = case.fitted()
    X = _with_last(case, case.X[:, -1].max() + 1, slice(0, 1))
    message = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            _assert_answers(case, model, X)
        except ValueError as problem:
            message = str(problem)
    named = not message or re.search(_last_column(case), message)
    assert named, f"the error does not name the column: {message}"


@law("fit", when=lambda case: case.by_rows)
def law_pandas_frames_equal_arrays(case: Case) -> None:
    """Pandas tables give the same answers as the arrays of their values."""
    _same_as_array(case, _library("pandas").DataFrame(case.X, columns=_names(case)))


@law("fit", when=lambda case: case.by_rows)
def law_polars_frames_equal_arrays(case: Case) -> None:
    """Polars tables give the same answers as the arrays of their values."""
    _same_as_array(case, _library("polars").DataFrame(dict(zip(_names(case), case.X.T, strict=True))))


def _names(case: Case) -> list[str]:
    """Names with a blank, and such as a frame shows as if they were attributes of an array."""
    return [*("dtype", "nnz", "weights", "lengths"), *(f"width {j}" for j in range(case.X.shape[1]))][: case.X.shape[1]]


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise SkipTest(f"{name} is not installed") from None


def _same_as_array(case: Case, frame: Any) -> None:
    plain, framed = case.fitted(), case.fitted(frame, case.y)
    names = list(getattr(framed, "feature_names_in_", []))
    assert names == _names(case), f"feature_names_in_ is {names}"
    assert_close(case.answers(plain), case.answers(framed, frame), "a frame against an array", rtol=1e-9)
