"""Selection: numbers of other programs, the true number of components, and what a search does with bad input."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans as ForeignKMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Foreign

from latently.cluster import GaussianMixture
from latently.learn import select, threads

FAITHFUL = Path(__file__).parents[1] / "reference" / "old_faithful.csv"
EXACT = {"tol": 1e-9, "max_iter": 5000, "reg_covar": 0.0, "random_state": 0}


def three_groups(n=600, seed=1):
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return centres[rng.integers(3, size=n)] + rng.normal(size=(n, 2))


@pytest.fixture(scope="module")
def groups():
    grid = {"n_components": range(1, 6), "covariance_type": ["full", "diag"]}
    return three_groups(), (GaussianMixture(tol=1e-5, max_iter=1000, n_init=2), grid)


def test_iris_as_mclust_has_it():
    found = select((GaussianMixture(**EXACT), {"n_components": [1, 2]}), load_iris().data)
    assert found.best["n_components"] == 2
    assert_allclose(found.best["log_likelihood"], -214.3547, atol=1e-3)
    assert_allclose(found.best["bic"], 574.0178, atol=2e-3)
    assert found.best["n_parameters"] == 29


def test_old_faithful_as_mclust_has_it():
    X = np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)
    grid = {"n_components": range(1, 5), "covariance_type": ["tied"]}
    found = select((GaussianMixture(n_init=5, **EXACT), grid), X)
    assert found.best["n_components"] == 3
    assert found.best["n_parameters"] == 11
    assert found.best["bic"] <= 2314.316 + 1e-3
    assert found.best["log_likelihood"] >= -1126.326 - 1e-3


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_counts_are_those_of_scikit_learn(kind):
    X = three_groups()
    found = select((GaussianMixture(covariance_type=kind), {"n_components": [1, 3]}), X, random_state=0)
    for line in found.table:
        peer = Foreign(line["n_components"], covariance_type=kind, random_state=0).fit(X)
        assert line["n_parameters"] == peer._n_parameters()


@pytest.mark.parametrize("criterion", ["bic", "icl", "held-out"])
def test_finds_the_true_number_of_groups(groups, criterion):
    X, models = groups
    found = select(models, X, criterion, random_state=0)
    assert found.best["n_components"] == 3
    assert found.best_model.n_components == 3
    assert found.ranked()[0] is found.best


def test_held_out_is_the_mean_log_density_of_rows_left_out():
    X = three_groups(200)
    found = select([GaussianMixture(1, reg_covar=0.0)], X, "held-out", folds=4, random_state=3)
    from sklearn.model_selection import KFold, cross_val_score

    peer = Foreign(1, reg_covar=0.0)
    scores = cross_val_score(peer, X, cv=KFold(4, shuffle=True, random_state=3))
    assert_allclose(found.best["held_out"], scores.mean(), rtol=1e-9)
    assert_allclose(found.best["held_out_error"], scores.std(ddof=1) / 2, rtol=1e-6)


def test_models_of_others_take_part(groups):
    X, _ = groups
    found = select({"theirs": Foreign(2, random_state=0), "ours": GaussianMixture(3, random_state=0)}, X)
    assert [line["model"] for line in found.table] == ["theirs", "ours"]
    assert_allclose(found.table[0]["bic"], Foreign(2, random_state=0).fit(X).bic(X))
    assert found.best["model"] == "ours"


def test_threads_do_not_matter(groups):
    X, models = groups
    tables = []
    for n in (1, 2):
        with threads(n):
            tables.append(select(models, X, random_state=0).table)
    for one, two in zip(*tables, strict=True):
        assert one["bic"] == two["bic"]


def test_a_warm_start_never_hurts_and_leaves_no_trace_in_the_settings():
    X = three_groups(300)
    grid = {"n_components": [1, 2, 3, 4, 5], "covariance_type": ["full", "tied", "diag", "spherical"]}
    # One random start each: some of them end in a poor optimum.
    models = (GaussianMixture(init_params="random", tol=1e-6, max_iter=2000), grid)
    cold = select(models, X, warm_start=False, random_state=0)
    warm = select(models, X, random_state=0)
    gains = [b["log_likelihood"] - a["log_likelihood"] for a, b in zip(cold.table, warm.table, strict=True)]
    assert min(gains) > -0.05
    assert max(gains) > 1
    for model in warm.models:
        assert clone(model).means_init is None
        assert (np.diff(model.weights_) <= 1e-12).all()


def test_warm_starts_take_missing_values():
    X = three_groups(300)
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    found = select((GaussianMixture(tol=1e-5, max_iter=1000), {"n_components": [1, 2, 3, 4]}), X, random_state=0)
    assert found.best["n_components"] == 3


def test_what_cannot_be_fitted_is_told_and_passed_over():
    X = three_groups(6)
    with pytest.warns(ConvergenceWarning, match="best model"):
        found = select((GaussianMixture(max_iter=1, tol=0.0), {"n_components": [1, 50]}), X, random_state=0)
    assert found.models[1] is None
    assert "n_components = 50" in found.table[1]["error"]
    assert found.best["n_components"] == 1
    assert "failed" in str(found)


def test_the_settings_of_the_models_given_stay_as_they_were(groups):
    X, _ = groups
    model = GaussianMixture()
    select([model, model], X, random_state=0)
    assert model.random_state is None
    assert not hasattr(model, "means_")


@pytest.mark.parametrize(
    ("models", "kind", "words"),
    [
        ([], ValueError, "no model to select from"),
        (3, TypeError, "list of estimators"),
        ([object()], TypeError, "fit and get_params"),
        ((GaussianMixture(), {"n_components": 3}), TypeError, "'n_components' must be a list"),
        ((GaussianMixture(), {"components": [3]}), ValueError, "components"),
        ([ForeignKMeans(2)], TypeError, "KMeans has no method bic"),
        ([GaussianMixture(50)], ValueError, "no candidate could be fitted"),
    ],
)
def test_wrong_models(models, kind, words):
    with pytest.raises(kind, match=words):
        select(models, three_groups(10))


def test_wrong_criterion_and_folds():
    with pytest.raises(ValueError, match="criterion must be one of bic, icl, aic, held-out"):
        select([GaussianMixture()], three_groups(10), "likelihood")
    with pytest.raises(ValueError, match="folds must be from 2"):
        select([GaussianMixture()], three_groups(10), "held-out", folds=11)
    with pytest.raises(TypeError, match="no method icl"):
        select([Foreign()], three_groups(10), "icl")


class Judged(BaseEstimator):
    """An estimator whose criteria are given."""

    def __init__(self, size=1, value=0.0):
        self.size = size
        self.value = value

    def fit(self, X):
        self.n_parameters_ = self.size
        return self

    def bic(self, X):
        return self.value

    def aic(self, X):
        return self.value


@pytest.mark.parametrize("sizes", [(7, 3, 5), (3, 7, 5), (5, 7, 3)])
@pytest.mark.parametrize("level", [-1000.0, 1000.0])
def test_of_equals_the_one_with_the_fewest_parameters_wins(sizes, level):
    rounding = np.array([0.0, 1e-8, -1e-8])
    listed = [Judged(size, level + gap) for size, gap in zip(sizes, rounding, strict=True)]
    assert select(listed, np.zeros((5, 1))).best["n_parameters"] == 3


def test_a_lower_value_wins_whatever_the_number_of_parameters():
    listed = [Judged(3, 10.0), Judged(30, 9.9), Judged(1, 11.0)]
    found = select(listed, np.zeros((5, 1)))
    assert found.best["n_parameters"] == 30
    assert [line["n_parameters"] for line in found.ranked()] == [30, 3, 1]
