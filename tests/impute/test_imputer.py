"""The imputer: exact answers of a known normal, coverage, spread of draws, frames, and bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from latently.cluster import BernoulliMixture, GaussianMixture, Mixture
from latently.data import Column, Schema
from latently.impute import Imputer

COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.3], [0.0, 0.3, 1.0]])


def two_clouds(n, seed, hidden=0.2):
    """Rows of a mixture of two Gaussians, and the same with entries hidden completely at random."""
    rng = np.random.default_rng(seed)
    group = rng.uniform(size=n) < 0.4
    X = rng.multivariate_normal(np.zeros(3), COVARIANCE, size=n) + np.where(group[:, None], [4.0, -3.0, 0.0], 0.0)
    absent = rng.uniform(size=X.shape) < hidden
    return X, np.where(absent, np.nan, X), absent


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    young = rng.uniform(size=n) < 0.5
    return pd.DataFrame(
        {
            "age": np.where(young, 22.0, 65.0) + 3 * rng.normal(size=n),
            "job": np.where(young, "student", "retired"),
            "visits": rng.integers(0, 5, size=n),
            "income": np.where(young, 1.0, 2.0) + 0.2 * rng.normal(size=n),
        },
        index=[f"p{i}" for i in range(n)],
    )


# what it says


def test_one_gaussian_gives_the_regression_of_the_complete_rows():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(3), COVARIANCE, size=400)
    complete, last = X[:, :2], X[:, 2]
    line = LinearRegression().fit(complete, last)
    model = GaussianMixture(1, reg_covar=0.0).fit(X)
    probe = np.column_stack([complete[:20], np.full(20, np.nan)])
    assert_allclose(Imputer(model).transform(probe)[:, 2], line.predict(complete[:20]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_intervals_cover_what_they_promise(seed):
    X, Y, absent = two_clouds(3000, seed)
    imputer = Imputer(random_state=0).fit(Y)
    low, high = imputer.interval(Y, level=0.9)
    assert 0.88 <= ((low <= X) & (high >= X))[absent].mean() <= 0.92
    assert_array_equal(low[~absent], X[~absent])
    assert_array_equal(high[~absent], X[~absent])


def test_intervals_of_mixed_tables_cover_too():
    whole = people(3000)
    table = whole.copy()
    absent = np.random.default_rng(1).uniform(size=len(table)) < 0.3
    table.loc[absent, "age"] = np.nan
    low, high = Imputer(random_state=0).fit(table).interval(table)
    inside = (low["age"] <= whole["age"]) & (whole["age"] <= high["age"])
    assert 0.87 <= inside[absent].mean() <= 0.93


def test_draws_have_the_spread_that_filling_with_means_takes_away():
    X, Y, _ = two_clouds(4000, 5, hidden=0.3)
    imputer = Imputer(random_state=0).fit(Y)
    drawn = np.array([np.cov(table.T) for table in imputer.draws(Y, 5, random_state=0)])
    assert_allclose(drawn.mean(axis=0), np.cov(X.T), atol=0.12)
    assert (np.cov(imputer.transform(Y).T).diagonal() < np.cov(X.T).diagonal() - 0.05).all()


def test_draws_spread_about_the_mean_as_the_conditional_does():
    # Given the first column at x, the second of a standard pair with correlation 0.8 is N(0.8 x, 0.36).
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=20000)
    imputer = Imputer(GaussianMixture(1)).fit(X)
    drawn = np.array(imputer.draws([[1.5, np.nan]] * 200, 20, random_state=1))[:, :, 1]
    assert_allclose(drawn.mean(), 1.2, atol=0.05)
    assert_allclose(drawn.std(), 0.6, atol=0.03)


def test_draws_repeat_with_a_seed_and_differ_without():
    _, Y, _ = two_clouds(100, 0)
    imputer = Imputer(random_state=0).fit(Y)
    one, two = imputer.draws(Y, 2, random_state=3)
    assert_array_equal(one, imputer.draws(Y, 2, random_state=3)[0])
    assert (one != two).any()


def test_the_number_of_components_is_found():
    _, Y, _ = two_clouds(1500, 3)
    assert Imputer(random_state=0).fit(Y).model_.n_components == 2


def test_columns_of_few_values_do_not_make_components():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(3), COVARIANCE, size=600)
    X[:, 2] = np.round(X[:, 2])
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    assert Imputer(random_state=0).fit(X).model_.n_components == 1


@pytest.mark.parametrize("criterion", ["bic", "aic", "icl", "held-out"])
def test_every_criterion_finds_clouds_that_are_apart(criterion):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2)) + np.repeat([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]], 80, axis=0)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    model = Imputer(criterion=criterion, max_components=4, random_state=0).fit(X).model_
    assert model.n_components == 3 if criterion in ("bic", "icl") else model.n_components >= 3
    assert model.converged_


def test_the_model_found_is_one_that_fits_by_itself():
    _, Y, _ = two_clouds(800, 3)
    found = Imputer(random_state=0).fit(Y).model_
    again = clone(found).set_params(random_state=0, tol=1e-6).fit(Y)
    assert found.score(Y) == pytest.approx(again.score(Y), abs=0.02)
    assert_allclose(found.means_, again.means_, atol=0.1)
    assert found.lower_bound_ * 800 <= again.lower_bound_ * 800 + 1e-6
    assert (np.diff(found.lower_bounds_) >= -1e-9).all()
    partial = found.partial_fit(Y[:10])
    assert partial.statistics_.rows == 810


def test_a_long_table_is_searched_in_part_and_fitted_whole():
    X, Y, absent = two_clouds(6000, 4)
    imputer = Imputer(random_state=0).fit(Y)
    assert imputer.model_.n_components == 2
    assert_allclose(imputer.model_.statistics_.rows, 6000)
    error = np.sqrt(np.mean((imputer.transform(Y) - X)[absent] ** 2))
    assert error < 0.75 * np.sqrt(np.mean((np.nanmean(Y, axis=0) - X)[absent] ** 2))
    assert imputer.model_.means_init is None


def test_a_column_that_is_not_in_the_part_searched_is_filled_all_the_same():
    _, Y, _ = two_clouds(5000, 4)
    Y[:, 2] = np.nan
    Y[:2, 2] = [7.0, 9.0]
    filled = Imputer(random_state=0).fit_transform(Y)
    assert_allclose(filled[:, 2].mean(), 8.0, atol=1.0)


# models of the user's


def test_a_fitted_model_is_used_as_it_is():
    _, Y, _ = two_clouds(300, 0)
    model = GaussianMixture(2, random_state=0).fit(Y)
    assert_array_equal(Imputer(model).transform(Y), model.impute_mean(Y))
    assert Imputer(model).fit(Y[:50]).model_ is model


def test_a_model_fitted_to_a_frame_fills_frames():
    _, Y, _ = two_clouds(300, 0)
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    filled = Imputer(GaussianMixture(2, random_state=0).fit(frame)).transform(frame)
    assert_array_equal(filled, GaussianMixture(2, random_state=0).fit(Y).impute_mean(Y))
    assert list(filled.columns) == ["a", "b", "c"]


def test_an_unfitted_model_is_cloned_and_fitted():
    _, Y, _ = two_clouds(300, 0)
    model = GaussianMixture(2, random_state=0)
    imputer = Imputer(model).fit(Y)
    assert not hasattr(model, "means_")
    assert_array_equal(imputer.transform(Y), clone(model).fit(Y).impute_mean(Y))


def test_a_mixture_over_mixed_columns():
    table = people()
    table.loc["p0", ["age", "job"]] = [np.nan, None]
    imputer = Imputer(Mixture(2, random_state=0)).fit(table)
    filled = imputer.transform(table)
    assert abs(filled.loc["p0", "age"] - people().loc["p0", "age"]) < 15
    assert filled.loc["p0", "job"] == people().loc["p0", "job"]
    assert_array_equal(Imputer(imputer.model_).transform(table)["age"], filled["age"])


def test_a_bernoulli_mixture_fills_truth_values():
    rng = np.random.default_rng(0)
    group = rng.uniform(size=200) < 0.5
    table = pd.DataFrame({c: np.where(rng.uniform(size=200) < 0.05, ~group, group) for c in "abcd"}).astype(object)
    truth = table.loc[0, "a"]
    table.loc[0, "a"] = None
    filled = Imputer(BernoulliMixture(2, random_state=0)).fit(table).transform(table)
    assert filled.loc[0, "a"] == truth
    assert set(filled["a"]) == {True, False}


# tables in and out


@pytest.mark.parametrize("make", [lambda t: t, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"])
def test_frames_come_out_as_they_went_in(make):
    whole = people()
    incomplete = whole.copy()
    incomplete.loc["p3", "job"] = None
    incomplete.loc["p4", "age"] = np.nan
    frame = make(incomplete.reset_index(drop=True) if make is not None else incomplete)
    filled = Imputer(random_state=0).fit(frame).transform(frame)
    assert type(filled) is type(frame)
    back = filled if isinstance(filled, pd.DataFrame) else filled.to_pandas()
    assert list(back.columns)[:4] == list(whole.columns)
    assert back["job"][3] == whole["job"].iloc[3]
    assert abs(back["age"][4] - whole["age"].iloc[4]) < 12
    assert back["visits"].dtype.kind == "i"
    assert back["age"][0] == whole["age"].iloc[0]


def test_the_index_of_a_pandas_table_stays():
    table = people()
    table.loc["p4", "age"] = np.nan
    assert list(Imputer(random_state=0).fit_transform(table).index) == list(table.index)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output(kind):
    _, Y, _ = two_clouds(200, 0)
    imputer = Imputer(random_state=0).set_output(transform=kind)
    filled = imputer.fit_transform(Y)
    assert type(filled).__module__.startswith(kind)
    assert list(filled.columns) == ["x0", "x1", "x2"]
    named = pd.DataFrame(Y, columns=["a", "b", "c"])
    assert list(clone(imputer).set_output(transform=kind).fit(named).transform(named).columns) == ["a", "b", "c"]


def test_in_a_pipeline():
    X, Y, _ = two_clouds(300, 0)
    pipe = make_pipeline(Imputer(random_state=0), LinearRegression()).fit(Y, X.sum(axis=1))
    assert pipe.score(Y, X.sum(axis=1)) > 0.7
    assert list(pipe[:-1].get_feature_names_out()) == ["x0", "x1", "x2"]


def test_a_category_never_seen_stays_and_the_rest_is_filled():
    imputer = Imputer(random_state=0).fit(people())
    table = people(3)
    table.loc["p0", "job"] = "astronaut"
    table.loc["p0", "age"] = np.nan
    filled = imputer.transform(table)
    assert filled.loc["p0", "job"] == "astronaut"
    assert np.isfinite(filled.loc["p0", "age"])
    array = imputer.fit(people().to_numpy()).transform(table.to_numpy())
    assert array[0, 1] == "astronaut"


def test_a_schema_says_what_numbers_mean():
    rng = np.random.default_rng(0)
    code = rng.integers(1, 3, size=200)
    X = np.column_stack([code, 10.0 * code + rng.normal(size=200)])
    X[0, 0] = np.nan
    schema = Schema((Column("code", "categorical", (1, 2)), Column("y", "numeric")))
    filled = Imputer(schema=schema, random_state=0).fit(X).transform(X)
    assert filled[0, 0] == code[0]


# bad input


def test_an_all_missing_column_is_named():
    with pytest.raises(ValueError, match=r"column 'b' has no observed values.*leave it out"):
        Imputer().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, np.nan]}))
    with pytest.raises(ValueError, match="column 'x1' has no observed values"):
        Imputer(GaussianMixture()).fit([[1.0, np.nan], [2.0, np.nan]])


def test_an_all_missing_row_becomes_the_mean_of_the_mixture():
    _, Y, _ = two_clouds(300, 0)
    Y[0] = np.nan
    imputer = Imputer(random_state=0).fit(Y)
    assert_allclose(imputer.transform(Y)[0], imputer.model_.weights_ @ imputer.model_.means_)


def test_strings_in_a_numeric_column_are_named():
    table = people()
    imputer = Imputer(random_state=0).fit(table)
    wrong = table.assign(age="old")
    with pytest.raises(ValueError, match="column 'age' is numeric but holds 'old'"):
        imputer.transform(wrong)
    with pytest.raises(TypeError, match="column 'x0' mixes values"):
        Imputer().fit([[1.0, 2.0], ["old", 3.0]])


def test_wrong_widths_and_names():
    _, Y, _ = two_clouds(60, 0)
    imputer = Imputer(random_state=0).fit(Y)
    with pytest.raises(ValueError, match="X has 2 features, but Imputer is expecting 3"):
        imputer.transform(Y[:, :2])
    with pytest.raises(ValueError, match="feature names"):
        Imputer(random_state=0).fit(people()).transform(people().rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="schema must name the columns"):
        Imputer(schema=Schema((Column("age", "numeric"),))).fit(people())


def test_wrong_settings():
    _, Y, _ = two_clouds(60, 0)
    with pytest.raises(TypeError, match="LinearRegression has no impute_mean"):
        Imputer(LinearRegression()).fit(Y)
    with pytest.raises(ValueError, match="max_components"):
        Imputer(max_components=0).fit(Y)
    with pytest.raises(ValueError, match="criterion must be one of"):
        Imputer(criterion="likelihood").fit(Y)
    with pytest.raises(ValueError, match="column 'job' holds categories"):
        Imputer(GaussianMixture()).fit(people())
    with pytest.raises(ValueError, match="n_draws"):
        Imputer(random_state=0).fit(Y).draws(Y, 0)
    with pytest.raises(ValueError, match="level"):
        Imputer(random_state=0).fit(Y).interval(Y, level=1.5)
    with pytest.raises(NotFittedError):
        Imputer().transform(Y)
    with pytest.raises(ValueError, match="inf"):
        Imputer().fit([[1.0, np.inf], [2.0, 1.0]])


def test_constants_one_row_and_nothing_missing():
    X = np.column_stack([np.arange(20.0), np.full(20, 3.0)])
    X[0, 1] = np.nan
    assert_allclose(Imputer(random_state=0).fit_transform(X)[0], [0.0, 3.0], atol=1e-6)
    assert_array_equal(Imputer(random_state=0).fit_transform([[1.0, 2.0]]), [[1.0, 2.0]])
    whole, _, _ = two_clouds(50, 0)
    assert_array_equal(Imputer(random_state=0).fit_transform(whole), whole)
