"""Standard errors: against textbook formulas, a numerical Hessian, and a parametric bootstrap."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.distributions.components.gaussian.limits.free import free_directions
from latently.distributions.components.gaussian.params import KINDS

IRIS, SPECIES = load_iris(return_X_y=True)
NAN = np.nan
CLOSELY = {"tol": 1e-11, "max_iter": 5000, "random_state": 0, "reg_covar": 0.0}


def two(n, seed=0):
    rng = np.random.default_rng(seed)
    side = rng.uniform(size=n) < 0.4
    return np.where(side, rng.normal(-2.0, 1.0, n), rng.normal(2.0, 1.5, n))[:, None]


def test_one_gaussian_has_the_textbook_errors():
    mixture = GaussianMixture(1, **CLOSELY).fit(IRIS)
    errors, C, n = mixture.standard_errors(IRIS), mixture.covariances_[0], len(IRIS)
    v = np.diag(C)
    np.testing.assert_allclose(errors["weights"], [0.0])
    np.testing.assert_allclose(errors["means"][0], np.sqrt(v / n), rtol=1e-6)
    np.testing.assert_allclose(np.diag(errors["covariances"][0]), np.sqrt(2 / n) * v, rtol=1e-6)
    np.testing.assert_allclose(errors["covariances"][0], np.sqrt((np.outer(v, v) + C**2) / n), rtol=1e-6)


def test_the_other_kinds_have_the_textbook_errors():
    n = len(IRIS)
    diagonal = GaussianMixture(1, covariance_type="diag", **CLOSELY).fit(IRIS)
    np.testing.assert_allclose(
        diagonal.standard_errors(IRIS)["covariances"], np.sqrt(2 / n) * diagonal.covariances_, rtol=1e-6
    )
    ball = GaussianMixture(1, covariance_type="spherical", **CLOSELY).fit(IRIS)
    errors = ball.standard_errors(IRIS)
    np.testing.assert_allclose(errors["covariances"], np.sqrt(2 / (4 * n)) * ball.covariances_, rtol=1e-6)
    np.testing.assert_allclose(errors["means"], np.sqrt(ball.covariances_[0] / n), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_far_apart_are_as_sure_as_each_alone(kind):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), 50 + 2 * rng.normal(size=(140, 2))])
    mixture = GaussianMixture(2, covariance_type=kind, **CLOSELY).fit(X)
    errors = mixture.standard_errors(X)
    assert errors["weights"] == pytest.approx(np.full(2, np.sqrt(0.3 * 0.7 / 200)), rel=1e-5)
    counts = 200 * mixture.weights_
    variances = np.diagonal(mixture._engine()[1].matrices, axis1=1, axis2=2) * mixture._engine()[1].frame.scale ** 2
    np.testing.assert_allclose(errors["means"], np.sqrt(variances / counts[:, None]), rtol=1e-5)
    assert errors["covariances"].shape == mixture.covariances_.shape


@pytest.mark.parametrize("hole", [False, True], ids=["whole", "holed"])
def test_overlapping_clusters_agree_with_a_numerical_hessian(hole):
    X = two(400)
    if hole:  # a second column, half of it missing
        X = np.column_stack([X, 0.5 * X[:, 0] + np.random.default_rng(1).normal(size=400)])
        X[::2, 1] = np.nan
    mixture = GaussianMixture(2, covariance_type="diag", **CLOSELY).fit(X)
    d = X.shape[1]

    def log_likelihood(v):
        w, means, variances = v[0], v[1 : 1 + 2 * d].reshape(2, d), v[1 + 2 * d :].reshape(2, d)
        parts = [
            np.log(p) + np.nansum(stats.norm(m, np.sqrt(s)).logpdf(X), axis=1)
            for p, m, s in zip((w, 1 - w), means, variances, strict=True)
        ]
        return np.logaddexp(*parts).sum()

    top = np.concatenate([mixture.weights_[:1], mixture.means_.ravel(), mixture.covariances_.ravel()])
    steps = 1e-3 * np.eye(len(top))
    hessian = np.array(
        [
            [sum(s * t * log_likelihood(top + s * a + t * b) for s in (1, -1) for t in (1, -1)) / 4e-6 for a in steps]
            for b in steps
        ]
    )
    expected = np.sqrt(np.diag(np.linalg.inv(-hessian)))
    errors = mixture.standard_errors(X)
    found = np.concatenate([errors["weights"][:1], errors["means"].ravel(), errors["covariances"].ravel()])
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert errors["weights"][0] == pytest.approx(errors["weights"][1])


def test_a_parametric_bootstrap_agrees_roughly():
    X = two(500)
    mixture = GaussianMixture(2, **CLOSELY).fit(X)
    errors = mixture.standard_errors(X)
    start = {"weights_init": mixture.weights_, "means_init": mixture.means_, "precisions_init": mixture.precisions_}
    draws = []
    for seed in range(150):
        rows, _ = mixture.set_params(random_state=seed).sample(500)
        again = GaussianMixture(2, tol=1e-7, max_iter=1000, **start).fit(rows)
        draws.append(np.concatenate([again.weights_, again.means_.ravel(), again.covariances_.ravel()]))
    found = np.concatenate([errors["weights"], errors["means"].ravel(), errors["covariances"].ravel()])
    np.testing.assert_allclose(found, np.std(draws, axis=0), rtol=0.35)


def test_missing_values_widen_the_errors():
    X = IRIS.copy()
    X[::2, 1] = np.nan
    whole = GaussianMixture(1, **CLOSELY).fit(IRIS).standard_errors(IRIS)["means"][0]
    incomplete = GaussianMixture(1, **CLOSELY).fit(X).standard_errors(X)["means"][0]
    assert incomplete[1] > 1.2 * whole[1]
    np.testing.assert_allclose(incomplete[[0, 2, 3]], whole[[0, 2, 3]], rtol=1e-6)


def test_weights_count_like_rows():
    once = GaussianMixture(1, **CLOSELY).fit(IRIS).standard_errors(IRIS)
    twice = GaussianMixture(1, **CLOSELY).fit(IRIS, sample_weight=np.full(150, 2.0))
    errors = twice.standard_errors(IRIS, sample_weight=np.full(150, 2.0))
    np.testing.assert_allclose(errors["means"], once["means"] / np.sqrt(2), rtol=1e-6)


def test_units_do_not_matter():
    scale = np.array([1e-6, 1.0, 1e6, 10.0])
    plain = GaussianMixture(2, **CLOSELY).fit(IRIS).standard_errors(IRIS)
    moved = GaussianMixture(2, **CLOSELY).fit(IRIS * scale + 100).standard_errors(IRIS * scale + 100)
    np.testing.assert_allclose(moved["means"], plain["means"] * scale, rtol=1e-4)
    np.testing.assert_allclose(moved["covariances"], plain["covariances"] * np.outer(scale, scale), rtol=1e-4)


def test_what_is_fixed_has_no_error_and_what_is_tied_shares_one():
    fixed = {"covariances": [[[1.0]], [[2.25]]], "weights": [0.4, 0.6]}
    X = two(400)
    mixture = GaussianMixture(2, fixed=fixed, **CLOSELY).fit(X)
    errors = mixture.standard_errors(X)
    assert (errors["weights"] == 0).all()
    assert (errors["covariances"] == 0).all()
    assert (errors["means"] > 0).all()
    tied = GaussianMixture(2, tied={"covariances": [[0, 1]]}, **CLOSELY).fit(X).standard_errors(X)
    assert tied["covariances"][0] == pytest.approx(tied["covariances"][1])
    assert tied["covariances"][0] > 0


def test_a_known_variance_gives_the_error_of_a_mean():
    mixture = GaussianMixture(1, fixed={"covariances": [[[4.0]]]}, **CLOSELY).fit(IRIS[:, :1])
    assert mixture.standard_errors(IRIS[:, :1])["means"][0, 0] == pytest.approx(2 / np.sqrt(150), rel=1e-6)


def test_where_there_is_no_maximum_there_are_no_errors():
    # two components that are one: nothing tells them apart
    start = {"weights_init": [0.5, 0.5], "means_init": [IRIS.mean(axis=0)] * 2}
    start["precisions_init"] = [np.linalg.inv(np.cov(IRIS.T, bias=True))] * 2
    mixture = GaussianMixture(2, **start).fit(IRIS)
    with pytest.raises(ValueError, match="not positive definite"):
        mixture.standard_errors(IRIS)


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("full", {}, 1 + 8 + 20),
        ("full", {"fixed": {"weights": [0.5, 0.5]}}, 8 + 20),
        ("full", {"fixed": {"means": [[5.0, NAN, NAN, NAN], [NAN] * 4]}}, 1 + 7 + 20),
        ("full", {"fixed": {"covariances": [np.eye(4), np.full((4, 4), NAN)]}}, 1 + 8 + 10),
        ("full", {"tied": {"means": [[0, 1]], "covariances": [[0, 1]]}}, 1 + 4 + 10),
        ("full", {"tied": {"weights": [[0, 1]]}}, 8 + 20),
        ("tied", {"fixed": {"covariances": np.eye(4)}}, 1 + 8),
        ("diag", {"tied": {"covariances": [[0, 1]]}}, 1 + 8 + 4),
        ("spherical", {"fixed": {"covariances": [1.0, NAN]}}, 1 + 8 + 1),
    ],
)
def test_only_what_is_learnt_is_counted(kind, options, expected):
    mixture = GaussianMixture(2, covariance_type=kind, random_state=0, **options).fit(IRIS)
    assert mixture._n_parameters() == expected
    assert free_directions(kind, 2, 4, mixture._engine()[0].constraints).shape[1] == expected


# labels


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", [None, np.full(150, 3.0)], ids=["rows", "weighted"])
def test_with_all_rows_labelled_every_group_has_the_textbook_errors(kind, weights):
    codes = np.array([2, 0, 1])[SPECIES]
    mixture = GaussianMixture(3, covariance_type=kind, **CLOSELY).fit(IRIS, sample_weight=weights, labels=codes)
    errors = mixture.standard_errors(IRIS, sample_weight=weights, labels=codes)
    times = 1 if weights is None else 3
    groups = [IRIS[codes == j] for j in range(3)]
    own = {
        "full": [g.var(axis=0) for g in groups],
        "tied": [np.mean([g.var(axis=0) for g in groups], axis=0)] * 3,
        "diag": [g.var(axis=0) for g in groups],
        "spherical": [np.full(4, g.var(axis=0).mean()) for g in groups],
    }[kind]
    np.testing.assert_allclose(errors["means"], np.sqrt(np.array(own) / (50 * times)), rtol=1e-6)
    np.testing.assert_allclose(errors["weights"], np.sqrt(2 / 9 / (150 * times)), rtol=1e-6)
    C, n = mixture.covariances_, {"tied": 150, "spherical": 200}.get(kind, 50) * times
    if kind in ("full", "tied"):
        v = np.diagonal(C, axis1=-2, axis2=-1)
        expected = np.sqrt((v[..., :, None] * v[..., None, :] + C**2) / n)
    else:
        expected = np.sqrt(2 / n) * C
    np.testing.assert_allclose(errors["covariances"], expected, rtol=1e-6)


def labelled_log_likelihood(kind, X, labels):
    """Of a vector of one weight, the means and the covariances (lower triangles): by scipy, row by row."""
    d = X.shape[1]
    lower = np.tril_indices(d)

    def matrix(values):
        out = np.zeros((d, d))
        out[lower] = values
        return out + np.tril(out, -1).T

    shapes = {
        "full": lambda v: [matrix(part) for part in v.reshape(2, -1)],
        "tied": lambda v: [matrix(v)] * 2,
        "diag": lambda v: [np.diag(part) for part in v.reshape(2, d)],
        "spherical": lambda v: [part * np.eye(d) for part in v],
    }

    def value(v):
        means, covariances = v[1 : 1 + 2 * d].reshape(2, d), shapes[kind](v[1 + 2 * d :])
        joint = np.empty((len(X), 2))
        for seen in np.unique(~np.isnan(X), axis=0):
            rows = (~np.isnan(X) == seen).all(axis=1)
            for j, (w, m, C) in enumerate(zip((v[0], 1 - v[0]), means, covariances, strict=True)):
                normal = stats.multivariate_normal(m[seen], C[np.ix_(seen, seen)])
                joint[rows, j] = np.log(w) + normal.logpdf(X[rows][:, seen])
        known = labels >= 0
        return logsumexp(joint[~known], axis=1).sum() + joint[known, labels[known]].sum()

    return value


@pytest.mark.parametrize("hole", [False, True], ids=["whole", "holed"])
@pytest.mark.parametrize("kind", KINDS)
def test_partly_labelled_rows_agree_with_a_numerical_hessian(kind, hole):
    rng = np.random.default_rng(2)
    truth = (rng.uniform(size=300) < 0.6).astype(int)
    X = rng.normal(1.5 * truth[:, None], np.array([[1.0, 0.7], [1.3, 1.0]])[truth]) @ np.array([[1.0, 0.4], [0.0, 1.0]])
    if hole:
        X[::3, 1] = np.nan
    labels = np.where(rng.uniform(size=300) < 0.4, truth, -1)
    mixture = GaussianMixture(2, covariance_type=kind, **CLOSELY).fit(X, labels=labels)
    lower = np.tril_indices(2)
    C = mixture.covariances_[..., lower[0], lower[1]] if kind in ("full", "tied") else mixture.covariances_
    top = np.concatenate([mixture.weights_[:1], mixture.means_.ravel(), C.ravel()])
    value, steps = labelled_log_likelihood(kind, X, labels), 1e-3 * np.eye(len(top))
    signs = [(s, t) for s in (1, -1) for t in (1, -1)]
    hessian = [[sum(s * t * value(top + s * a + t * b) for s, t in signs) / 4e-6 for a in steps] for b in steps]
    expected = np.sqrt(np.diag(np.linalg.inv(-np.array(hessian))))
    errors = mixture.standard_errors(X, labels=labels)
    spread = errors["covariances"]
    spread = spread[..., lower[0], lower[1]] if kind in ("full", "tied") else spread
    found = np.concatenate([errors["weights"][:1], errors["means"].ravel(), spread.ravel()])
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_the_labels_of_the_fit_are_asked_for():
    mixture = GaussianMixture(3, **CLOSELY).fit(IRIS, labels=SPECIES)
    with pytest.raises(ValueError, match="fitted with labels.*same labels"):
        mixture.standard_errors(IRIS)
    unknown = np.full(150, -1)
    again = GaussianMixture(2, **CLOSELY).fit(IRIS, labels=unknown)  # no row has one
    plain = again.standard_errors(IRIS)
    np.testing.assert_allclose(again.standard_errors(IRIS, labels=unknown)["means"], plain["means"], rtol=1e-6)
