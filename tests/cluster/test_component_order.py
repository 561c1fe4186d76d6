"""What names a component keeps its component: priors, labels and constraints, at the fit and after it."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import load_iris

import latently
from latently.cluster import BernoulliMixture, GaussianMixture, Mixture
from latently.cluster.mixture.start import params_from
from latently.distributions import Dirichlet, Gaussian
from latently.distributions.components.gaussian.params import KINDS
from latently.learn import select

IRIS, SPECIES = load_iris(return_X_y=True)
BITS = (np.median(IRIS, axis=0) < IRIS).astype(float)
A = np.array([2.0, 2.0, 60.0])
CLOSELY = {"tol": 1e-12, "max_iter": 20000, "random_state": 0}


def matrices(mixture):
    """(k, d, d) covariances, whatever their kind."""
    k, d = mixture.means_.shape
    C = mixture.covariances_
    return {
        "full": lambda: C,
        "tied": lambda: np.tile(C, (k, 1, 1)),
        "diag": lambda: np.stack([np.diag(v) for v in C]),
        "spherical": lambda: C[:, None, None] * np.eye(d),
    }[mixture.covariance_type]()


def gaussian_joint(mixture, X=IRIS):
    """(n, k) by scipy."""
    parts = zip(mixture.weights_, mixture.means_, matrices(mixture), strict=True)
    return np.column_stack([np.log(w) + stats.multivariate_normal(m, C).logpdf(X) for w, m, C in parts])


def normal_joint(mixture, X=IRIS):
    """(n, k) of independent columns, by scipy."""
    parts = zip(mixture.weights_, mixture.components_, strict=True)
    return np.column_stack(
        [
            np.log(w)
            + sum(
                stats.norm(p.marginal(j).mean, np.sqrt(p.marginal(j).variance)).logpdf(X[:, j])
                for j in range(X.shape[1])
            )
            for w, p in parts
        ]
    )


def bit_joint(mixture, X=BITS):
    """(n, k) of zeros and ones, by scipy."""
    parts = zip(mixture.weights_, mixture.probabilities_, strict=True)
    return np.column_stack([np.log(w) + stats.bernoulli(p).logpmf(X).sum(axis=1) for w, p in parts])


def mode(joint, concentration=A):
    """(k,) the weights that are best under a Dirichlet prior, from responsibilities."""
    counts = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)).sum(axis=0) + concentration - 1
    return counts / counts.sum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["em", "gradient"])
def test_gaussian_weights_are_at_the_mode_under_their_own_prior(kind, method):
    mixture = GaussianMixture(
        3, covariance_type=kind, prior={"weights": Dirichlet(A)}, reg_covar=0.0, method=method, **CLOSELY
    ).fit(IRIS)
    joint = gaussian_joint(mixture)
    np.testing.assert_allclose(mixture.weights_, mode(joint), atol=1e-5)
    expected = logsumexp(joint, axis=1).sum() + stats.dirichlet(A).logpdf(mixture.weights_ / mixture.weights_.sum())
    assert mixture.lower_bound_ * 150 == pytest.approx(expected, abs=1e-6)


def test_the_prior_of_sixty_rows_stays_with_its_component_at_the_default_settings():
    mixture = GaussianMixture(3, prior={"weights": Dirichlet(A)}, random_state=0).fit(IRIS)
    np.testing.assert_allclose(mixture.weights_, (mixture.statistics_.weight + A - 1) / 211)
    assert mixture.weights_[2] > 59 / 211


@pytest.mark.parametrize("given", [Dirichlet(A), A, A.tolist()], ids=["Dirichlet", "array", "list"])
@pytest.mark.parametrize("method", ["em", "gradient"])
@pytest.mark.parametrize(
    ("make", "X", "joint"), [(Mixture, IRIS, normal_joint), (BernoulliMixture, BITS, bit_joint)], ids=["table", "bits"]
)
def test_weights_of_tables_are_at_the_mode_under_their_own_prior(make, X, joint, given, method):
    mixture = make(3, prior="ml", weight_prior=given, method=method, **CLOSELY).fit(X)
    found = joint(mixture)
    np.testing.assert_allclose(mixture.weights_, mode(found), atol=1e-4)
    expected = logsumexp(found, axis=1).sum() + (A - 1) @ np.log(mixture.weights_)
    assert mixture.lower_bound_ * 150 == pytest.approx(expected, abs=1e-4)


ESTIMATORS = {
    "gaussian": (GaussianMixture(3, prior={"weights": Dirichlet(A)}, tol=1e-9, max_iter=5000, random_state=0), IRIS),
    "table": (Mixture(3, weight_prior=A, tol=1e-9, max_iter=5000, random_state=0), IRIS),
    "bits": (BernoulliMixture(3, weight_prior=A, tol=1e-9, max_iter=5000, random_state=0), BITS),
}


@pytest.fixture(params=list(ESTIMATORS))
def case(request):
    mixture, X = ESTIMATORS[request.param]
    return clone(mixture), X


def own_mode(mixture):
    counts = mixture.statistics_.weight + A - 1
    return counts / counts.sum()


def test_learning_goes_on_from_where_it_was(case, tmp_path):
    mixture, X = case
    before = mixture.fit(X).weights_
    latently.save(mixture, tmp_path / "mixture.latently")
    back = latently.load(tmp_path / "mixture.latently")
    for one in (mixture, back):
        one.partial_fit(X[:1])
        np.testing.assert_allclose(one.weights_, own_mode(one))
        assert np.abs(one.weights_ - before).max() < 1.5 / 211  # a row moves the weights by a row
        one.forget(X[:1])
        np.testing.assert_allclose(one.weights_, before, atol=1e-4)
    np.testing.assert_array_equal(back.weights_, mixture.weights_)


def test_two_that_are_merged_keep_the_prior_of_the_first(case):
    mixture, X = case
    one, other = clone(mixture).fit(X[::2]), clone(mixture).fit(X[1::2])
    one.merge(other)
    assert one.statistics_.rows == 150
    np.testing.assert_allclose(one.weights_, own_mode(one))


def test_files_and_dask_collections_are_told_in_the_same_order(case, tmp_path):
    mixture, X = case
    whole = clone(mixture).fit(X)
    names = list("abcd")
    pd.DataFrame(X, columns=names).to_parquet(tmp_path / "rows.parquet")
    stored = clone(mixture).fit(tmp_path / "rows.parquet")
    spread = clone(mixture).fit(da.from_array(X, chunks=(40, 4)))
    for one in (stored, spread):
        np.testing.assert_allclose(one.weights_, own_mode(one))
        np.testing.assert_allclose(one.weights_, whole.weights_, atol=1e-6)


def test_a_prior_that_is_the_same_for_all_names_none():
    for given in (Dirichlet([5.0, 5.0, 5.0]), Dirichlet(5.0)):
        gaussian = GaussianMixture(3, prior={"weights": given}, random_state=0).fit(IRIS)
        table = Mixture(3, weight_prior=given, random_state=0).fit(IRIS)
        for mixture in (gaussian, table):
            assert (np.diff(mixture.weights_) <= 0).all()
    bits = BernoulliMixture(3, weight_prior=[5.0, 5.0, 5.0], random_state=0).fit(BITS)
    assert (np.diff(bits.weights_) <= 0).all()


# labels


@pytest.mark.parametrize(
    "mixture", [GaussianMixture(2, random_state=0), Mixture(2, random_state=0)], ids=["gaussian", "table"]
)
def test_components_known_by_labels_keep_their_places_in_a_merge(mixture, tmp_path):
    # in the second table the groups have changed places, which only the labels tell
    rng = np.random.default_rng(0)
    x_labels, y_labels = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    X, Y = rng.normal(4.0 * x_labels)[:, None], rng.normal(4.0 * (1 - y_labels))[:, None]
    one, other = clone(mixture).fit(X, labels=x_labels), clone(mixture).fit(Y, labels=y_labels)
    latently.save(other, tmp_path / "other.latently")
    one.merge(latently.load(tmp_path / "other.latently"))
    rows, labels = np.concatenate([X, Y])[:, 0], np.concatenate([x_labels, y_labels])
    np.testing.assert_allclose(one.statistics_.weight, np.bincount(labels))
    means = one.means_ if isinstance(one, GaussianMixture) else [part.mean for part in one.components_]
    np.testing.assert_allclose(np.ravel(means), [rows[labels == k].mean() for k in (0, 1)], rtol=1e-3)


def test_components_without_labels_go_to_the_nearest_in_a_merge():
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 3
    X = rng.normal(12.0 * truth)[:, None]
    first, second = (np.where(truth == 0, 0, -1), np.where(truth == 0, 0, -1))
    start = {"weights_init": [1 / 3] * 3, "precisions_init": np.ones((3, 1, 1))}
    one = GaussianMixture(3, means_init=[[0.0], [12.0], [24.0]], **start).fit(X, labels=first)
    other = GaussianMixture(3, means_init=[[0.0], [24.0], [12.0]], **start).fit(X, labels=second)
    one.merge(other)
    np.testing.assert_allclose(one.means_[:, 0], [X[truth == k].mean() for k in range(3)], atol=1e-3)


def test_labels_of_a_later_batch_name_components_too():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    X = rng.normal(4.0 * labels)[:, None]
    one = Mixture(2, random_state=0).fit(X).partial_fit(X, labels=labels)
    other = Mixture(2, random_state=0).fit(X, labels=1 - labels)
    weight = one.statistics_.weight + other.statistics_.weight
    np.testing.assert_allclose(one.merge(other).statistics_.weight, weight)


def test_labels_go_with_rows_in_memory():
    with pytest.raises(ValueError, match="labels need a table in memory"):
        GaussianMixture(3).fit(da.from_array(IRIS, chunks=(50, 4)), labels=SPECIES)


# constraints


def test_a_group_of_rows_stays_in_the_component_it_is_given_to():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0.0, 1.0, 50), rng.normal(10.0, 1.0, 50)])[:, None]
    model = Mixture(2, fixed={0: {0: Gaussian(0.0, 1.0)}}, random_state=0).fit(X).model_
    far = X[:, 0] > 5
    params = params_from(model, X, np.stack([far, ~far]).astype(float))  # the rows near zero go to the free component
    means = [part.mean[0] for part in model.components(params)]
    assert means == pytest.approx([0.0, X[~far].mean()], abs=0.5)
    assert params.weights == pytest.approx([0.5, 0.5], abs=0.01)


def test_what_is_tied_stays_tied_in_a_search_over_sizes():
    rng = np.random.default_rng(0)
    group = rng.choice(3, size=600, p=[0.5, 0.2, 0.3])
    X = np.column_stack([rng.normal(8.0 * group), rng.normal(size=600)])
    grid = (GaussianMixture(tied={"covariances": [[0, 1]]}, tol=1e-8, max_iter=2000), {"n_components": [2, 3]})
    for model in select(grid, X, random_state=0).models:
        np.testing.assert_array_equal(model.covariances_[0], model.covariances_[1])
        joint = gaussian_joint(model, X)
        assert model.lower_bound_ * 600 == pytest.approx(logsumexp(joint, axis=1).sum(), abs=0.1)
