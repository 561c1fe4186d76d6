"""Gaussian: offsets, scales, missing values in the rows, conditioning, degenerate data."""

import numpy as np
import pytest
from scipy import optimize, stats

from latently.distributions import ColumnError, Gaussian, NormalInverseWishart, Sums

KINDS = ("full", "diag", "spherical")
NAN = np.nan

# Little and Rubin, Statistical Analysis with Missing Data: apple crops, size and percentage of wormy fruit
APPLES = np.array(
    [[8, 59], [6, 58], [11, 56], [22, 53], [14, 50], [17, 45], [18, 43], [24, 42], [19, 39], [23, 38],
     [26, 30], [40, 27], [4, NAN], [4, NAN], [5, NAN], [6, NAN], [8, NAN], [10, NAN]]
)  # fmt: skip


def rows(n=300, seed=0):
    return np.random.default_rng(seed).multivariate_normal(
        [1.0, -2.0, 3.0], [[2, 0.6, 0], [0.6, 1, 0.3], [0, 0.3, 0.5]], n
    )


def absent(X, share, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, NAN, X)


# missing values


def test_apples():
    found = Gaussian().fit(APPLES)
    np.testing.assert_allclose(found.mean, [14.722222, 49.333333], atol=1e-6)
    np.testing.assert_allclose(found.covariance, [[89.533951, -90.696729], [-90.696729, 114.694955]], atol=1e-6)
    assert found.log_prob(APPLES).sum() == pytest.approx(-101.785632, abs=1e-6)


def test_apples_far_away_and_in_other_units():
    offset, scale = np.array([1e8, -1e6]), np.array([1e-3, 1e5])
    found = Gaussian().fit(APPLES * scale + offset)
    np.testing.assert_allclose((found.mean - offset) / scale, [14.722222, 49.333333], rtol=1e-5)
    np.testing.assert_allclose(found.covariance[0, 1] / scale.prod(), -90.696729, rtol=1e-4)


def test_missing_fit_is_a_stationary_point_of_the_likelihood():
    X = absent(rows(80), 0.3)
    found = Gaussian().fit(X)

    def minus_log_likelihood(theta):
        L = np.zeros((3, 3))
        L[np.tril_indices(3)] = theta[3:]
        return -Gaussian(theta[:3], L @ L.T).log_prob(X).sum()

    at = np.concatenate([found.mean, np.linalg.cholesky(found.covariance)[np.tril_indices(3)]])
    assert np.abs(optimize.approx_fprime(at, minus_log_likelihood, 1e-6)).max() < 1e-3


def test_em_never_lowers_the_likelihood():
    X = absent(rows(60), 0.5)
    current, trace = Gaussian(np.zeros(3), np.eye(3)), []
    for _ in range(15):
        trace.append(current.log_prob(X).sum())
        current = current.from_statistics(current.expected_statistics(X))
    assert (np.diff(trace) > 0).all()


def test_expected_statistics_equal_the_formula_row_by_row():
    X, w = absent(rows(40), 0.4), np.random.default_rng(1).uniform(size=40)
    current = Gaussian([0.5, -1.0, 2.0], [[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 0.7]])
    S, total, first, second = current.covariance, 0.0, np.zeros(3), np.zeros((3, 3))
    for x, weight in zip(X, w, strict=True):
        m, o = np.isnan(x), ~np.isnan(x)
        if not o.any():
            continue
        gradient = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        full, extra = x.copy(), np.zeros((3, 3))
        full[m] = current.mean[m] + gradient @ (x[o] - current.mean[o])
        extra[np.ix_(m, m)] = S[np.ix_(m, m)] - gradient @ S[np.ix_(o, m)]
        total, first, second = (
            total + weight,
            first + weight * full,
            second + weight * (np.outer(full, full) + extra),
        )
    moments = current.expected_statistics(X, w).about(np.zeros(3))
    assert float(moments.weight) == pytest.approx(total)
    np.testing.assert_allclose(moments.first, first, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(moments.second, second, rtol=1e-10, atol=1e-10)


def test_missing_fit_under_a_prior_maximises_the_posterior():
    X = absent(rows(30), 0.3)
    prior = NormalInverseWishart(np.zeros(3), 2.0, np.eye(3), 6.0)

    def log_posterior(p):
        upper = p.covariance[np.triu_indices(3)]
        return p.log_prob(X).sum() + prior.log_prob([[*p.mean, *upper]])[0]

    found = Gaussian().fit(X, prior=prior)
    best = log_posterior(found)
    rng = np.random.default_rng(0)
    for _ in range(30):
        step = rng.normal(size=(3, 3)) * 0.02
        near = Gaussian(found.mean + rng.normal(size=3) * 0.02, found.covariance + step @ step.T)
        assert log_posterior(near) < best


@pytest.mark.parametrize(("block", "kept"), [(9 * 3, 10**9), (9 * 3, 0)])
def test_patterns_in_several_blocks_kept_or_not(monkeypatch, block, kept):
    X = absent(rows(60), 0.4)
    known = Gaussian(np.zeros(3), np.eye(3))
    whole, fitted = known.expected_statistics(X), Gaussian().fit(X)
    monkeypatch.setattr("latently.distributions.incomplete.BLOCK", block)
    monkeypatch.setattr("latently.distributions.incomplete.KEPT", kept)
    np.testing.assert_allclose(known.expected_statistics(X).scatter(), whole.scatter(), rtol=1e-10)
    np.testing.assert_allclose(Gaussian().fit(X).covariance, fitted.covariance, rtol=1e-9)


def test_columns_never_seen_together_stay_uncorrelated():
    X = np.array([[1.0, NAN], [2.0, NAN], [4.0, NAN], [NAN, 1.0], [NAN, 5.0]])
    found = Gaussian().fit(X)
    np.testing.assert_allclose(found.covariance, np.diag([14 / 9, 4.0]), atol=1e-9)


def test_statistics_of_partly_missing_rows_ask_for_more():
    with pytest.raises(ColumnError, match=r"column 1 is missing in row 12.*expected_statistics"):
        Gaussian().statistics(APPLES)
    with pytest.raises(ColumnError, match="expected_statistics"):
        Gaussian([0, 0], np.eye(2)).features(APPLES)
    with pytest.raises(ValueError, match="template"):
        Gaussian().expected_statistics(APPLES)


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_columns_with_holes_are_fitted_on_what_is_there(kind):
    X = absent(rows(50), 0.3)
    found = Gaussian(kind=kind).fit(X)
    np.testing.assert_allclose(found.mean, np.nanmean(X, axis=0))
    squares = np.nansum((X - np.nanmean(X, axis=0)) ** 2, axis=0)
    seen = (~np.isnan(X)).sum(axis=0)
    np.testing.assert_allclose(
        found.variance, squares / seen if kind == "diag" else np.full(3, squares.sum() / seen.sum())
    )


def test_a_column_never_seen_is_named():
    X = np.column_stack([rows(20)[:, 0], np.full(20, NAN)])
    for kind in KINDS:
        with pytest.raises(ColumnError, match="column 1 has no observed values"):
            Gaussian(kind=kind).fit(X)


# numbers far from zero, or very small


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("offset", "scale"), [(1e8, 1.0), (0.0, 1e-12), (-1e8, 1e-1), (0.0, 1e9)])
def test_offset_and_scale_keep_the_variance(kind, offset, scale):
    X = rows()
    expected = Gaussian(kind=kind).fit(X)
    stats_ = [Gaussian(kind=kind).statistics(part * scale + offset) for part in np.array_split(X, 7)]
    found = Gaussian(kind=kind).from_statistics(sum(stats_[1:], stats_[0]))
    rtol = 1e-10 if offset == 0 else 1e-6  # at 1e8 the data themselves keep eight digits
    np.testing.assert_allclose(found.variance / scale**2, expected.variance, rtol=rtol)
    np.testing.assert_allclose((found.mean - offset) / scale, expected.mean, rtol=rtol)


@pytest.mark.parametrize("kind", KINDS)
def test_merged_chunks_equal_one_pass(kind):
    X = rows() + 1e8
    parts = [Gaussian(kind=kind).statistics(part) for part in (X[:1], X[1:40], X[40:])]
    one, merged = (
        Gaussian(kind=kind).fit(X),
        Gaussian(kind=kind).from_statistics(parts[0] + parts[1] + parts[2]),
    )
    np.testing.assert_allclose(merged.covariance, one.covariance, rtol=1e-10)
    np.testing.assert_allclose(merged.mean, one.mean, rtol=1e-15)


def test_merging_with_a_far_chunk_keeps_both():
    near, far = np.array([0.0, 1.0, 2.0]), np.array([1e8, 1e8 + 1, 1e8 + 2])
    g = Gaussian()
    both = g.statistics(near) + g.statistics(far)
    back = g.from_statistics(both - g.statistics(far))
    assert g.from_statistics(both).variance[0] == pytest.approx(2.5e15, rel=1e-12)
    assert back.mean[0] == pytest.approx(1.0, abs=1e-6)


def test_features_about_an_origin_keep_their_digits():
    X = rows() + 1e8
    origin = X.mean(axis=0)
    known = Gaussian().fit(X)
    log_prob = known.features(X, origin) @ known.natural(origin)
    np.testing.assert_allclose(log_prob, known.log_prob(X), rtol=1e-7)
    record = Gaussian().record(Gaussian().features(X, origin).sum(axis=0), origin=origin)
    np.testing.assert_allclose(Gaussian().from_statistics(record).covariance, known.covariance, rtol=1e-10)


def test_columns_of_unlike_units():
    scale = np.array([1e-9, 1.0, 1e9])
    found = Gaussian().fit(rows() * scale)
    np.testing.assert_allclose(found.covariance / np.outer(scale, scale), Gaussian().fit(rows()).covariance, rtol=1e-9)
    assert np.isfinite(found.log_prob(rows() * scale)).all()


# degenerate data


@pytest.mark.parametrize("kind", ["full", "diag"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -7e11, 1e-300])
def test_a_constant_column_is_named(kind, constant):
    X = rows()
    X[:, 1] = constant
    with pytest.raises(ColumnError, match=r"column 1 is constant.*prior"):
        Gaussian(kind=kind).fit(X)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_rounding_is_not_variance(kind):
    X = rows()
    X[:, 1] = np.where(np.arange(len(X)) % 3, 0.1, np.nextafter(0.1, 1))
    g = Gaussian(kind=kind)
    for stats_ in (g.statistics(X[:7]) + g.statistics(X[7:]), Sums(g.features(X).sum(axis=0))):
        with pytest.raises(ColumnError, match="column 1 is constant"):
            g.from_statistics(stats_)


def test_sums_about_a_far_origin_are_refused_rather_than_wrong():
    with pytest.raises(ColumnError, match="column 0 is constant"):
        Gaussian().from_statistics(Sums(Gaussian().features(rows()[:, 0] + 1e9).sum(axis=0)))


@pytest.mark.parametrize("constant", [0.0, 0.1, -7e11])
def test_a_constant_column_with_holes_is_named(constant):
    X = absent(rows(), 0.2)
    X[:, 1] = constant
    with pytest.raises(ColumnError, match=r"column 1 is constant.*prior"):
        Gaussian().fit(X)


def test_one_row_is_constant_and_spherical_pools():
    for kind in KINDS:
        with pytest.raises(ColumnError, match="column 0 is constant"):
            Gaussian(kind=kind).fit([[1.0, 2.0]])
    found = Gaussian(kind="spherical").fit([[1.0, 2.0], [1.0, 4.0]])
    assert float(found.covariance) == 0.5


def test_a_prior_makes_constant_columns_and_one_row_possible():
    prior = NormalInverseWishart([0.0, 0.0], 1.0, np.eye(2), 4.0)
    for X in ([[3.0, 1.0]], [[3.0, 1.0]] * 5):
        found = Gaussian().fit(X, prior=prior)
        assert np.isfinite(found.log_prob(X)).all()


def test_dependent_columns_are_named():
    X = rows()
    X[:, 2] = 2 * X[:, 0] - X[:, 1]
    with pytest.raises(ColumnError, match="column 2 is a linear function"):
        Gaussian().fit(X)
    with pytest.raises(ColumnError, match="linear function"):
        Gaussian().fit(rows(3))  # as many rows as columns: a plane
    assert Gaussian(kind="diag").fit(X).n_columns == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], np.eye(3)), "shape"),
        (([0, 0], [[1, 2], [2, 1]]), "linear function"),
        (([0, 0], [[1, 0.5], [0.1, 1]]), "symmetric"),
        (([0, 0], [[1, 0], [0, 0]]), "column 1"),
        (([0, NAN], np.eye(2)), "finite"),
        (([0, 0], [1, -1], "diag"), "column 1 needs a positive"),
        (([0, 0], 0.0, "spherical"), "positive"),
        ((None, None, "round"), "kind"),
        (([0.0], None), "template"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        Gaussian(*arguments)


def test_other_bad_input():
    with pytest.raises(ValueError, match="shape"):
        Gaussian().fit(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="numbers"):
        Gaussian().fit([["a"], ["b"]])
    with pytest.raises(ValueError, match="single row"):
        Gaussian([0, 0], np.eye(2)).log_prob([1.0, 2.0])
    with pytest.raises(TypeError, match="another kind"):
        Gaussian(kind="diag").from_statistics(Gaussian().statistics(rows()))
    with pytest.raises(ValueError, match="same kind"):
        Gaussian().fit(rows(), prior=NormalInverseWishart([0, 0, 0], 1.0, [1, 1, 1], 3.0, kind="diag"))


# parts of the columns


def test_marginal_and_conditional_multiply_to_the_joint():
    joint = Gaussian().fit(rows())
    X = rows(10, seed=3)
    for x, log_prob in zip(X, joint.log_prob(X), strict=True):
        rest = joint.conditional([2, 0], x[[2, 0]])
        assert joint.marginal([2, 0]).log_prob([x[[2, 0]]])[0] + rest.log_prob([x[1]])[0] == pytest.approx(log_prob)


def test_marginal_keeps_the_order_asked_for():
    joint = Gaussian().fit(rows())
    np.testing.assert_array_equal(joint.marginal([2, 0]).mean, joint.mean[[2, 0]])
    assert joint.marginal([2, 0]).covariance[0, 0] == joint.covariance[2, 2]
    assert joint.marginal([0, 1, 2]) is joint


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_independent_columns_do_not_inform_each_other(kind):
    joint = Gaussian(kind=kind).fit(rows())
    assert joint.conditional(1, 100.0) == joint.marginal([0, 2])


def test_conditional_refuses():
    joint = Gaussian().fit(rows())
    for columns, values, message in [
        ([0, 0], [1, 1], "distinct"),
        (3, 1.0, "0..2"),
        ([0], [NAN], "finite"),
        ([0, 1, 2], [1, 1, 1], "nothing is left"),
    ]:
        with pytest.raises(ValueError, match=message):
            joint.conditional(columns, values)


def test_interval_covers():
    low, high = Gaussian([0.0, 5.0], [[4.0, 1.0], [1.0, 9.0]]).interval(0.95)
    np.testing.assert_allclose(low, stats.norm([0, 5], [2, 3]).ppf(0.025))
    np.testing.assert_allclose(high, stats.norm([0, 5], [2, 3]).ppf(0.975))


def test_sums_of_features_without_an_origin_are_read():
    X = rows()
    found = Gaussian().from_statistics(Sums(Gaussian().features(X).sum(axis=0)))
    np.testing.assert_allclose(found.covariance, np.cov(X.T, bias=True), rtol=1e-9)
