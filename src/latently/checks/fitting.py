"""Laws of a fit: its objective rises, it reports truly how it ended, and it changes nothing that it was given."""

import copy
import os
import tempfile
import warnings
from typing import Any
from unittest import SkipTest

import numpy as np

from latently.checks.case import Case, assert_same_bits, fitted_numbers
from latently.checks.law import law

_TRACES = ("trace_", "lower_bounds_")


@law("fit")
def law_trace_never_falls(case: Case) -> None:
    """Objectives never fall by more than rounding (`trace_` or `lower_bounds_`)."""
    model = case.fitted(model=case.new(n_init=1, tol=0.0, max_iter=50))
    names = [name for name in _TRACES if hasattr(model, name)]
    if not names:
        raise SkipTest("the model keeps no trace of its objective")
    for name in names:
        trace = np.asarray(getattr(model, name), dtype=float)
        assert np.isfinite(trace).all(), f"{name} is not finite: {trace}"
        falls = np.diff(trace) < -1e-8 * (1 + np.abs(trace[1:]))
        assert not falls.any(), f"{name} falls at iteration {int(np.argmax(falls)) + 2}: {trace}"


@law("fit", when=lambda case: case.iterations is not None)
def law_converged_is_honest(case: Case) -> None:
    """`converged_` is not true after a single iteration, and is true if the fit ended before `max_iter`."""
    model = case.fitted(model=case.new(n_init=1, max_iter=1))
    if not hasattr(model, "converged_"):
        raise SkipTest("the model does not say whether it converged")
    assert not model.converged_, "converged_ after one iteration, which cannot be known"
    model = case.fitted(model=case.new(n_init=1, max_iter=500, tol=1e-3))
    ended = model.n_iter_ < 500
    assert bool(model.converged_) == ended, f"converged_ is {model.converged_} after {model.n_iter_} of 500"


@law("fit", when=lambda case: case.iterations is not None)
def law_running_out_of_iterations_is_told(case: Case) -> None:
    """Fits that stop at `max_iter` warn (`ConvergenceWarning`); where there is `converged_`, `reason_` says so too."""
    from sklearn.exceptions import ConvergenceWarning

    model = case.new(n_init=1, max_iter=1, tol=np.finfo(float).tiny)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(case.X, case.y)
    warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    assert warned or getattr(model, "converged_", True), "nobody is warned"
    if hasattr(model, "converged_"):
        ended = getattr(model, "reason_", None)
        assert (ended == "converged") == bool(model.converged_), f"reason_ is {ended!r}, converged_ {model.converged_}"
    if not hasattr(model, "trace_"):
        return
    assert warned, "nobody is warned"
    assert model.reason_ == "max_iter", f"reason_ is {model.reason_!r} after one iteration"
    model = case.fitted(model=case.new(n_init=1, max_iter=500, tol=1e-3))
    assert (model.reason_ == "converged") == bool(model.converged_), f"reason_ is {model.reason_!r}"
    assert model.n_iter_ <= len(model.trace_) <= model.n_iter_ + 1, "trace_ does not have every iteration"


@law("fit")
def law_fit_changes_nothing_it_was_given(case: Case) -> None:
    """Fitting changes neither the table, nor the target, nor the weights, nor a constructor parameter."""
    X, y = case.table()
    weighs = case.takes("sample_weight") and case.by_rows
    weights = {"sample_weight": np.linspace(1, 2, len(X))} if weighs else {}
    model = case.starter() if case.can_start else case.new()
    given = {"X": X, "y": y, **weights, **model.get_params(deep=False)}
    before = copy.deepcopy(given)
    case.fitted(X, y, model, **weights)
    after = given | model.get_params(deep=False)
    for name, value in before.items():
        assert _same(value, after[name]), f"fit changed {name} from {value!r} to {after[name]!r}"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return type(a) is type(b) and (repr(a) == repr(b))


@law("fit")
def law_fit_can_be_repeated(case: Case) -> None:
    """With a seed, two fits give the same bits; so does fitting the same object again."""
    once, other = case.fitted(), case.fitted(case.X[:30], None if case.y is None else case.y[:30])
    again = case.fitted(model=other)
    assert_same_bits(fitted_numbers(once), fitted_numbers(again), "fitted for the second time")
    assert_same_bits(case.answers(once), case.answers(again), "fitted for the second time")


@law("fit")
def law_clone_keeps_parameters(case: Case) -> None:
    """Cloning a fitted model keeps its parameters and nothing that it learnt."""
    from sklearn.base import clone

    model = case.fitted()
    twin = clone(model)
    for name, value in model.get_params(deep=False).items():
        assert _same(value, getattr(twin, name)), f"clone changed {name}"
    learnt = [name for name in vars(twin) if name.endswith("_")]
    assert not learnt, f"a clone remembers {learnt}"


@law("fit")
def law_fitted_numbers_are_numbers(case: Case) -> None:
    """No fitted attribute holds a NaN."""
    assert_no_nan(case.fitted())


def assert_no_nan(model: Any) -> None:
    """Fail if a fitted attribute holds a NaN."""
    for path, array in fitted_numbers(model).items():
        assert not np.isnan(array).any(), f"{path} holds NaN"


@law("fit")
def law_saved_and_loaded_is_the_same(case: Case) -> None:
    """`latently.load` gives back what `latently.save` got: same parameters and answers, to the last bit."""
    import latently

    model = case.fitted()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.latently")
        try:
            latently.save(model, path)
        except TypeError as problem:
            if type(model).__module__.startswith("latently."):
                raise
            raise SkipTest(str(problem)) from None
        back = latently.load(path)
    assert repr(back.get_params()) == repr(model.get_params()), "loading changed the parameters"
    assert vars(back).keys() == vars(model).keys(), "loading changed the attributes"
    assert_same_bits(fitted_numbers(model), fitted_numbers(back), "saved and loaded")
    assert_same_bits(case.answers(model), case.answers(back), "saved and loaded")
