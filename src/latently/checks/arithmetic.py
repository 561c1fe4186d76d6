"""Laws of the engine: what is summed over rows depends neither on their order nor on who sums."""

from typing import Any
from unittest import SkipTest

import numpy as np

from latently.checks.case import Case, assert_close, assert_same_bits, fitted_numbers, learnt, numbers
from latently.checks.law import law
from latently.data.sources.chunks import Chunk
from latently.learn.engine.free_energy import free_energy
from latently.learn.engine.reduce import threads


def _weighs(case: Case) -> bool:
    return case.takes("sample_weight") and case.can_start and case.by_rows


def _same_fit(case: Case, left: Any, right: Any, what: str) -> None:
    assert_close(learnt(left, len(case.X)), learnt(right, len(case.X)), what)
    assert_close(case.answers(left), case.answers(right), what)


@law("fit", when=_weighs)
def law_weights_equal_repeats(case: Case) -> None:
    """Weights count like repeats: three for three rows, zero for none, from the same start."""
    counts = np.arange(len(case.X)) // 2 % 4
    y = None if case.y is None else np.repeat(case.y, counts)
    weighted = case.fitted(case.X, case.y, case.starter(), sample_weight=counts.astype(float))
    repeated = case.fitted(np.repeat(case.X, counts, axis=0), y, case.starter())
    _same_fit(case, weighted, repeated, "weights against repeated rows")


@law("fit", when=_weighs)
def law_weights_of_one_change_nothing(case: Case) -> None:
    """Weights of one are the same as no weights."""
    plain = case.fitted(case.X, case.y, case.starter())
    ones = case.fitted(case.X, case.y, case.starter(), sample_weight=np.ones(len(case.X)))
    _same_fit(case, plain, ones, "weights of one against none")


@law("fit", when=lambda case: case.can_start and case.by_rows)
def law_row_order_does_not_matter(case: Case) -> None:
    """Rows in another order give the same model, from the same start."""
    order = np.random.default_rng(1).permutation(len(case.X))
    y = None if case.y is None else case.y[order]
    straight = case.fitted(case.X, case.y, case.starter())
    shuffled = case.fitted(case.X[order], y, case.starter())
    _same_fit(case, straight, shuffled, "rows in another order")


def _halves(case: Case) -> tuple[Any, Any, Any, Any]:
    half = 2 * (len(case.X) // 4)
    ys = (None, None) if case.y is None else (case.y[:half], case.y[half:])
    return case.X[:half], case.X[half:], *ys


@law("partial_fit", "forget")
def law_forget_undoes_partial_fit(case: Case) -> None:
    """`partial_fit` of some rows and then `forget` of the same rows leads back to where the model was."""
    A, B, ya, yb = _halves(case)
    before = case.add(case.new(), A, ya)
    after = case.add(case.add(case.new(), A, ya), B, yb)
    case.add(after, B, yb, "forget")
    _same_fit(case, before, after, "after partial_fit and forget of the same rows")


@law("partial_fit", "forget")
def law_forget_refuses_what_was_never_learnt(case: Case) -> None:
    """`forget` of more rows than were learnt is an error, and leaves the model as it was."""
    A, _, ya, _ = _halves(case)
    model = case.add(case.new(), A, ya)
    before = learnt(model, len(case.X))
    thrice = None if ya is None else np.concatenate([ya] * 3)
    try:
        case.add(model, np.concatenate([A] * 3), thrice, "forget")
    except ValueError:
        assert_close(before, learnt(model, len(case.X)), "after a refusal to forget", rtol=0.0)
    else:
        raise AssertionError("rows were forgotten three times that were learnt once")


@law("merge", when=lambda case: case.by_rows)
def law_merge_equals_fit_on_both(case: Case) -> None:
    """`merge` makes two models the model of the rows of both."""
    A, B, ya, yb = _halves(case)
    merged = case.fitted(A, ya)
    result = merged.merge(case.fitted(B, yb))
    _same_fit(case, merged if result is None else result, case.fitted(), "merged against fitted on both")


@law("fit", when=lambda case: case.by_rows and (case.has("_engine") or case.has("partial_fit")))
def law_threads_change_nothing(case: Case) -> None:
    """One thread and two threads give the same bits, at fitting and at asking."""
    X, y = case.table(40_000)
    found = []
    for n in (1, 2):
        with threads(n):
            model = case.fitted(X, y, case.new(max_iter=3, n_init=1))
            found.append(fitted_numbers(model) | case.answers(model, X))
    assert_same_bits(found[0], found[1], "one thread against two")


@law("fit", when=lambda case: case.by_rows and hasattr(case.estimator.fit, "takes_out_of_core"))
def law_dask_gives_the_same(case: Case) -> None:
    """Dask collections, cut anyhow, give the model of the table that they are, to 1e-10."""
    try:
        import dask
        import dask.array as da
    except ImportError:
        raise SkipTest("Dask is not installed") from None
    cut = len(case.X) // 3 + 1
    from_array: Any = da.from_array
    X = from_array(case.X, chunks=(cut, case.X.shape[1]))
    y = None if case.y is None else from_array(case.y, chunks=cut)
    with dask.config.set(scheduler="synchronous"):
        there = case.fitted(X, y)
    here = case.fitted()
    assert_close(learnt(here, len(case.X)), learnt(there, len(case.X)), "Dask against memory", rtol=1e-10)
    assert_close(case.answers(here), case.answers(there), "Dask against memory")


@law("_engine", when=lambda case: case.by_rows)
def law_statistics_add(case: Case) -> None:
    """expect(a) + expect(b) is expect(a ++ b), and subtracting b leaves a, as far as `update` shows."""
    model, params = case.fitted(model=case.new(max_iter=2))._engine()
    half = len(case.X) // 3
    a, b, both = (model.expect(params, Chunk(np.ascontiguousarray(X))) for X in (case.X[:half], case.X[half:], case.X))
    for left, right, what in ((a + b, both, "a + b against a ++ b"), (both - b, a, "(a ++ b) - b against a")):
        assert np.isclose(left.rows, right.rows), f"rows: {left.rows} and {right.rows}, {what}"
        assert np.isclose(left.bound, right.bound, rtol=1e-8, atol=1e-6), f"bound: {what}"
        updated = [dict(numbers(model.update(params, stats))) for stats in (left, right)]
        assert_close(updated[0], updated[1], f"update from {what}")


@law("_engine", when=lambda case: case.by_rows)
def law_bound_is_a_bound(case: Case) -> None:
    """Free energy, as `expect` reports it, is at most the log-likelihood; so is that of any other q."""
    model, params = case.fitted(model=case.new(max_iter=2))._engine()
    if not hasattr(model, "log_joint"):
        raise SkipTest("the model has no log_joint")
    bound = model.expect(params, Chunk(case.X)).bound
    joint = model.log_joint(params, case.X)
    likelihood = float(np.logaddexp.reduce(joint, axis=1).sum())
    room = 1e-8 * (abs(likelihood) + len(case.X))
    assert bound <= likelihood + room, f"the free energy {bound} is above the log-likelihood {likelihood}"
    q = np.random.default_rng(2).dirichlet(np.ones(joint.shape[1]), size=len(case.X))
    assert free_energy(model, params, q, case.X) <= likelihood + room, "a random q beats the likelihood"
