"""Multiple imputation: what the completed tables differ by, beside what the observed rows say."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import latently
from latently.cluster import GaussianMixture, Mixture
from latently.distributions import Gaussian
from latently.impute import Imputer, imputer
from latently.learn.engine.reduce import single_threaded_blas
from latently.sequence import GaussianHMM


def total_error(estimates):
    """Standard error by Rubin's rules, of pairs of a value and its variance."""
    values, variances = np.array(estimates).T
    return np.sqrt(variances.mean() + (1 + 1 / len(values)) * values.var(ddof=1))


def decided_by_the_first(n, rng):
    """Two columns; whether the second is missing depends on the first, which has no holes."""
    X = rng.standard_normal((n, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]]) * [1.0, 10.0]
    X[rng.random(n) < stats.norm.cdf(2 * X[:, 0]), 1] = np.nan
    return X


def slope(table):
    line = stats.linregress(table[:, 0], table[:, 1])
    return line.slope, line.stderr**2


@pytest.mark.parametrize("model", [None, Mixture(1, families={(0, 1): Gaussian()})])
def test_a_slope_is_known_as_well_as_the_observed_rows_tell(model):
    # rows in which only the first column is seen say nothing of the slope: its error is that of the others alone
    rng, ratios = np.random.default_rng(0), []
    with single_threaded_blas():
        for _ in range(25):
            X = decided_by_the_first(200, rng)
            tables = Imputer(model, max_components=1, random_state=0).fit(X).draws(X, 25, random_state=0)
            seen = ~np.isnan(X[:, 1])
            ratios.append(total_error([slope(table) for table in tables]) / np.sqrt(slope(X[seen])[1]))
    assert abs(np.mean(ratios) - 1) < 0.04


def mixed_rows(n, rng, share=0.2):
    X = rng.standard_normal((n, 3)) @ np.linalg.cholesky(np.full((3, 3), 0.4) + 0.6 * np.eye(3)).T
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=rng.choice(["u", "v"], n))
    return table, table.mask(rng.random(table.shape) < share * np.array([1, 1, 1, 0]))


@pytest.mark.parametrize(("n", "repeats"), [(20, 60), (50, 20)])
def test_intervals_of_mixed_tables_hold_what_they_say(n, repeats):
    rng, inside = np.random.default_rng(n), []
    numbers = ["a", "b", "c"]
    with single_threaded_blas():
        for _ in range(repeats):
            whole, holed = mixed_rows(n, rng)
            low, high = Imputer(max_components=1, random_state=0).fit(holed).interval(holed)
            held = (low[numbers] <= whole[numbers]) & (high[numbers] >= whole[numbers])
            inside.append(held.to_numpy()[holed[numbers].isna().to_numpy()])
    assert abs(np.concatenate(inside).mean() - 0.9) < 0.025


def test_a_mean_and_a_share_of_a_mixed_table_are_known_as_well_as_their_columns_tell():
    rng, ratios = np.random.default_rng(0), []
    for _ in range(12):
        table = pd.DataFrame({"size": rng.normal(size=100), "kind": rng.choice(["u", "v"], 100)})
        holed = table.mask(rng.random(table.shape) < 0.4)
        tables = Imputer(max_components=1, random_state=0).fit(holed).draws(holed, 25, random_state=0)
        seen = [holed["size"].dropna(), (holed["kind"].dropna() == "u") * 1.0]
        drawn = [[(t["size"], (t["kind"] == "u") * 1.0)[j] for t in tables] for j in range(2)]
        for own, columns in zip(seen, drawn, strict=True):
            error = total_error([(column.mean(), column.var() / len(column)) for column in columns])
            ratios.append(error / np.sqrt(own.var() / len(own)))
    # that of all rows with parameters as known would be less by a quarter
    assert abs(np.mean(ratios[0::2]) - 1) < 0.07
    assert abs(np.mean(ratios[1::2]) - 1) < 0.07


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_each_draw_has_parameters_of_its_own(kind):
    X = decided_by_the_first(40, np.random.default_rng(0))
    imputer = Imputer(GaussianMixture(2, covariance_type=kind, random_state=0)).fit(X)
    blank = np.full((400, 2), np.nan)
    within = np.array([table.mean(axis=0) for table in imputer.draws(blank, 40, random_state=0)])
    known = np.array([table.mean(axis=0) for table in imputer.model_.impute_draws(blank, 40, random_state=0)])
    assert (within.var(axis=0) > 3 * known.var(axis=0)).all()  # the mean of 400 draws has a twentieth of their spread


def test_seeds_fix_the_draws_and_saving_keeps_them(tmp_path):
    rng = np.random.default_rng(0)
    for table in (decided_by_the_first(60, rng), mixed_rows(60, rng)[1]):
        imputer = Imputer(max_components=1, random_state=0).fit(table)
        latently.save(imputer, tmp_path / "imputer.latently")
        again = latently.load(tmp_path / "imputer.latently")
        first, other = imputer.draws(table, 2, random_state=3), again.draws(table, 2, random_state=3)
        for one, two in zip(first, other, strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(two))
        assert not np.array_equal(np.asarray(first[0]), np.asarray(first[1]))
        low, _ = imputer.interval(table)
        assert np.array_equal(np.asarray(low), np.asarray(again.interval(table)[0]))


def test_columns_never_seen_together_are_filled_with_numbers():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(3), np.full((3, 3), 0.5) + 0.5 * np.eye(3), size=60)
    X[:30, 1] = X[30:, 2] = np.nan
    for table in Imputer(max_components=1, random_state=0).fit(X).draws(X, 3, random_state=0):
        assert np.isfinite(table).all()
        assert np.abs(table).max() < 50


def test_columns_that_are_functions_of_others_and_constants_are_filled():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(50)
    X = np.column_stack([x, 2 * x + 1e8, np.full(50, 3.0)])
    X[::4, 1] = X[1::4, 2] = np.nan
    for table in Imputer(max_components=1, random_state=0).fit(X).draws(X, 3, random_state=0):
        np.testing.assert_allclose(table[:, 1] - 1e8, 2 * x, atol=1.0)
        np.testing.assert_allclose(table[:, 2], 3.0, atol=0.5)


def test_rows_are_kept_up_to_a_number_and_not_of_models_taken_as_known(monkeypatch):
    X = decided_by_the_first(300, np.random.default_rng(0))
    kept = Imputer(max_components=1, random_state=0).fit(X)._rows
    np.testing.assert_array_equal(kept, X)
    assert not np.shares_memory(kept, X)
    monkeypatch.setattr(imputer, "KEPT_ROWS", 100)
    some = Imputer(max_components=1, random_state=0).fit(X)
    assert some._rows.shape == (100, 2)
    narrow = np.array([table[:, 1].mean() for table in some.draws(X, 60, random_state=0)])
    monkeypatch.undo()
    whole = np.array([table[:, 1].mean() for table in Imputer(max_components=1).fit(X).draws(X, 60, random_state=0)])
    assert 0.6 < narrow.std() / whole.std() < 1.6
    assert Imputer(GaussianMixture(1).fit(X)).fit(X)._rows is None
    assert Imputer(GaussianHMM(1, n_iter=200, random_state=0)).fit(X)._rows is None
