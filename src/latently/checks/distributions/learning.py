"""Laws about families: statistics add, and fits from them are the best there are."""

import os
import pickle
import tempfile
from dataclasses import fields, replace
from typing import Any
from unittest import SkipTest

import numpy as np

from latently.checks.case import numbers
from latently.checks.distributions.case import DistributionCase, assert_near, law
from latently.distributions import ColumnError


def _learns(case: DistributionCase) -> bool:
    return case.learns


def _assert_same_fit(case: DistributionCase, left: Any, right: Any, what: str, rtol: float = 1e-6) -> None:
    """Fail unless two statistics lead to the same parameters."""
    a, b = (dict(numbers(case.known.from_statistics(stats))) for stats in (left, right))
    assert a.keys() == b.keys(), f"{what}: parameters {sorted(a)} and {sorted(b)}"
    for name, value in a.items():
        assert_near(value, b[name], f"{what}: {name.removeprefix('.')}", rtol, 1e-8)


@law(_learns)
def law_statistics_of_chunks_add(case: DistributionCase) -> None:
    """statistics(a) + statistics(b) is statistics(a ++ b), and subtracting b leaves a, as far as a fit shows."""
    X = case.rows
    a, b, both = (case.known.statistics(part) for part in (X[:70], X[70:], X))
    _assert_same_fit(case, a + b, both, "a + b against a ++ b")
    _assert_same_fit(case, b + a, both, "b + a against a ++ b")
    _assert_same_fit(case, both - b, a, "(a ++ b) - b against a")
    _assert_same_fit(case, both + case.known.statistics(X[:0]), both, "with no rows added")


@law(_learns)
def law_weights_are_repeats(case: DistributionCase) -> None:
    """Weights count like repeats, zero for none; the order of the rows does not matter."""
    times = np.arange(len(case.rows)) % 4
    repeated = np.repeat(case.rows, times, axis=0)
    for ask in (case.known.statistics, case.known.expected_statistics):
        _assert_same_fit(case, ask(case.rows, times.astype(float)), ask(repeated), f"{ask.__name__}: weights, repeats")
    _assert_same_fit(
        case, case.known.statistics(case.rows[::-1]), case.known.statistics(case.rows), "rows in another order"
    )


@law(_learns)
def law_empty_rows_say_nothing(case: DistributionCase) -> None:
    """Rows with nothing observed change no fit."""
    gaps = np.full((5, case.known.n_columns), np.nan)
    _assert_same_fit(
        case, case.known.statistics(np.vstack([gaps, case.rows])), case.known.statistics(case.rows), "with empty rows"
    )


@law(_learns)
def law_fit_maximises_the_likelihood(case: DistributionCase) -> None:
    """No parameters near those of a fit make its rows more likely, nor do those that the rows were drawn from."""
    X, rng = case.rows, np.random.default_rng(2)
    fitted = case.known.fit(X)
    best = float(fitted.log_prob(X).sum())
    room = 1e-9 * (len(X) + abs(best))
    others = [case.known.fit(X, rng.uniform(0.8, 1.2, size=len(X))) for _ in range(20)]
    for other in (case.known, *others, *_nudged(fitted)):
        found = float(other.log_prob(X).sum())
        assert found <= best + room, f"{other} is better than the fit {fitted}: {found} against {best}"
    gain = best - float(case.known.log_prob(X).sum())
    chance = 10 + 5 * fitted.n_parameters
    assert gain < chance, f"the fit is {gain} nats above what the rows were drawn from: draws or density are wrong"


def _nudged(fitted: Any) -> list[Any]:
    """Distributions with one parameter a little larger or smaller, where that is allowed."""
    found = []
    for name in fitted.PARAMETERS:
        value = getattr(fitted, name)
        if not isinstance(value, np.ndarray):
            continue
        for by in (1 - 1e-3, 1 + 1e-3):
            try:
                found.append(replace(fitted, **{name: value * by}))
            except ValueError:
                continue
    return found


@law(_learns)
def law_fit_leaves_the_family_as_it_was(case: DistributionCase) -> None:
    """`fit` gives a new distribution of the same class, equal to the fit of its statistics, and changes nothing."""
    before, rows = repr(case.known), case.rows.copy()
    fitted = case.known.fit(case.rows)
    assert type(fitted) is type(case.known), f"fit gives a {type(fitted).__name__}"
    assert repr(case.known) == before, "fit has changed the distribution it was asked of"
    assert np.array_equal(case.rows, rows), "fit has changed the rows"
    assert fitted.is_fitted, "fit gives a template"
    assert fitted == case.known.fit(case.rows), "two fits to the same rows differ"
    for field in fields(fitted):
        value = getattr(fitted, field.name)
        assert not isinstance(value, np.ndarray) or not value.flags.writeable, f"{field.name} can be written to"


@law(_learns)
def law_bad_rows_are_named(case: DistributionCase) -> None:
    """Infinite values are a ColumnError that names the column; no rows, and negative weights, a ValueError."""
    X = case.rows[:5].copy()
    X[2, -1] = np.inf
    problem = _refused("an infinite value", lambda: case.known.statistics(X))
    named = isinstance(problem, ColumnError) and problem.column == X.shape[1] - 1
    assert named or "row 2" in str(problem), f"the error does not name the column (raise a ColumnError): {problem}"
    _refused("no rows at all", lambda: case.known.fit(case.rows[:0]))
    _refused("weights of zero", lambda: case.known.fit(case.rows[:5], np.zeros(5)))
    _refused("a negative weight", lambda: case.known.statistics(case.rows[:5], np.array([1.0, 1.0, -1.0, 1.0, 1.0])))


def _refused(what: str, ask: Any) -> ValueError:
    try:
        ask()
    except ValueError as problem:
        return problem
    raise AssertionError(f"{what} went unnoticed: raise a ValueError that says so")


@law(lambda case: case.has_features)
def law_log_prob_is_linear_in_the_features(case: DistributionCase) -> None:
    """log_prob(X) is features(X) @ natural() + log_base(X), and summed features are statistics."""
    X, origin = case.rows, case.rows.mean(axis=0)
    F, natural = case.known.features(X, origin), case.known.natural(origin)
    assert F.shape == (len(X), len(natural)), f"features have shape {F.shape}, and natural() has {len(natural)}"
    linear = F @ natural + case.known.log_base(X)
    assert_near(case.known.log_prob(X), linear, "log_prob and features @ natural + log_base", 1e-8, 1e-7)
    summed = case.known.record(F.sum(axis=0), origin=origin)
    _assert_same_fit(case, summed, case.known.statistics(X), "summed features and statistics")


@law()
def law_a_copy_is_equal(case: DistributionCase) -> None:
    """Files give back an equal distribution with the same hash, which says the same; so does pickle."""
    import latently

    twins = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "distribution.latently")
        try:
            latently.save(case.known, path)
        except TypeError as problem:
            reason = str(problem)
        else:
            twins.append(latently.load(path))
    try:
        twins.append(pickle.loads(pickle.dumps(case.known)))
    except (pickle.PicklingError, AttributeError) as problem:
        reason = str(problem)
    if not twins:
        raise SkipTest(reason)
    for twin in twins:
        assert twin == case.known, f"{twin} was saved as {case.known}"
        assert hash(twin) == hash(case.known), "equal distributions have other hashes"
        assert np.array_equal(twin.log_prob(case.rows), case.known.log_prob(case.rows)), "a copy has other densities"
