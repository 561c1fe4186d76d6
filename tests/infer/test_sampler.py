"""The sampler on densities whose moments are known, and its diagnostics against ArviZ."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import ndtri

from latently.infer import Posterior, PosteriorWarning, effective_sample_size, r_hat


def chains(seed, m, n, rho, shift):
    """Autoregressive chains from integers, so that any machine makes the same ones."""
    uniform = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            seed = (1103515245 * seed + 12345) % 2**31
            uniform[i, j] = (seed + 0.5) / 2**31
    noise = ndtri(uniform)
    out = noise.copy()
    for j in range(1, n):
        out[:, j] = rho * out[:, j - 1] + np.sqrt(1 - rho**2) * noise[:, j]
    out[0] += shift
    return out


# printed by ArviZ 0.23.4: az.rhat(x), az.ess(x, method="bulk"), "tail", "mean"
ARVIZ = [
    ((1, 4, 500, 0.0, 0.0), 1.001122148643131, 1687.0670128765428, 1775.762149135309, 1695.0142426371922),
    ((2, 4, 500, 0.9, 0.0), 1.016358090757385, 92.97398852269374, 265.58161550322814, 91.93143813213631),
    ((3, 4, 500, 0.5, 1.0), 1.0847056303521458, 40.97267619461388, 189.4848848843274, 39.54164227987211),
    ((5, 3, 200, -0.5, 0.0), 0.998039988179512, 1666.890750230186, 646.8129332368804, 1666.890750230186),
    ((6, 2, 50, 0.95, 0.0), 1.4824340975840438, 4.233119807239689, 13.091289928434273, 3.7659446708530813),
    ((7, 8, 101, 0.7, 0.3), 1.0619395254110071, 117.68764050258358, 233.93142600719025, 119.06447171457309),
]


@pytest.mark.parametrize(("case", "rhat", "bulk", "tail", "mean"), ARVIZ)
def test_diagnostics_agree_with_arviz(case, rhat, bulk, tail, mean):
    draws = chains(*case)
    assert_allclose(r_hat(draws), rhat, rtol=1e-9)
    assert_allclose(effective_sample_size(draws), bulk, rtol=1e-9)
    assert_allclose(effective_sample_size(draws, "tail"), tail, rtol=1e-9)
    assert_allclose(effective_sample_size(draws, "mean"), mean, rtol=1e-9)


def test_diagnostics_of_constants_and_bad_input():
    assert r_hat(np.ones((4, 10))) == 1
    assert r_hat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf
    assert effective_sample_size(np.ones((4, 10))) == 40
    for bad, message in ((np.ones(10), "shape"), (np.full((2, 10), np.nan), "NaN")):
        with pytest.raises(ValueError, match=message):
            r_hat(bad)
    with pytest.raises(ValueError, match="kind"):
        effective_sample_size(np.ones((4, 10)), "x")


def box(names, size):
    return dict.fromkeys(names, (-size, size))


def quadratic(*args):
    """Three parameters, each pair correlated 0.95, with scales 0.01, 1 and 100."""
    scale = np.array([0.01, 1.0, 100.0])
    matrix = np.linalg.inv(np.full((3, 3), 0.95) + 0.05 * np.eye(3))
    z = np.stack(args, axis=-1) / scale
    return -0.5 * np.einsum("...i,ij,...j->...", z, matrix, z)


def banana(x, y):
    return -0.5 * x**2 - (y - x**2 / 2) ** 2  # y = x^2 / 2 + N(0, 1/2)


def funnel(v, x, y):
    return -0.5 * v**2 - 0.5 * np.exp(-v) * (x**2 + y**2) - v


def ring(x, y):
    r = np.hypot(x, y)
    return -0.5 * ((r - 5) / 0.5) ** 2 - np.log(np.maximum(r, 1e-300))


RING = stats.truncnorm(-10, np.inf, 5, 0.5)  # of the radius; x is r cos(angle)
T5 = 5 / 3
TARGETS = {
    "plain": (box("abc", 40), lambda a, b, c: -0.5 * (a**2 + b**2 + c**2), [0, 0, 0], [1, 1, 1]),
    "correlated": ({"a": (-1, 1), "b": (-50, 50), "c": (-5e3, 5e3)}, quadratic, [0, 0, 0], [1e-4, 1, 1e4]),
    "banana": (box("xy", 60), banana, [0, 0.5], [1, 1.0]),
    "funnel": ({"v": (-8, 8), "x": (-200, 200), "y": (-200, 200)}, funnel, [0, 0, 0], [1, np.exp(0.5), np.exp(0.5)]),
    "student": (box("abc", 300), lambda a, b, c: -4 * np.log1p((a**2 + b**2 + c**2) / 5), [0, 0, 0], [T5, T5, T5]),
    "exponential": (dict.fromkeys("abc", (0, 60)), lambda a, b, c: -a - 2 * b - 5 * c, [1, 0.5, 0.2], [1, 0.25, 0.04]),
    "uniform": (dict.fromkeys("abc", (0, 1)), lambda a, b, c: 0.0 * a, [0.5, 0.5, 0.5], [1 / 12, 1 / 12, 1 / 12]),
    "gamma": (
        dict.fromkeys("abc", (0, 80)),
        lambda a, b, c: np.log(a) + 2 * np.log(b) + 4 * np.log(c) - a - b - c,
        [2, 3, 5],
        [2, 3, 5],
    ),
    "logistic": (
        box("abc", 60),
        lambda a, b, c: -sum(np.abs(z) + 2 * np.log1p(np.exp(-np.abs(z))) for z in (a + 3, b, c - 3)),
        [-3, 0, 3],
        [np.pi**2 / 3] * 3,
    ),
    "ring": (box("xy", 20), ring, [0, 0], [RING.moment(2) / 2] * 2),
}


@pytest.mark.parametrize("name", TARGETS)
def test_moments_within_monte_carlo_error(name):
    prior, density, mean, variance = TARGETS[name]
    post = Posterior(prior, density, method="sample", random_state=3)
    if name == "ring":  # highest all around: no single mode
        with pytest.warns(PosteriorWarning, match="modes"):
            _ = post.mean
    assert post.diagnostics["converged"]
    draws = post.diagnostics["chains"].draws
    for j in range(len(mean)):
        for values, expected in ((draws[:, :, j], mean[j]), ((draws[:, :, j] - mean[j]) ** 2, variance[j])):
            error = values.std() / np.sqrt(effective_sample_size(values, "mean"))
            assert abs(values.mean() - expected) < 4.5 * error
            assert error < 0.35 * np.sqrt(variance[j]) * max(1, np.sqrt(variance[j]))


def test_two_modes_far_apart_warn():
    hill = lambda at, *x: -0.5 * sum((v - at) ** 2 for v in x)  # noqa: E731
    both = lambda *x: np.logaddexp(hill(-12, *x), hill(12, *x))  # noqa: E731
    post = Posterior(box("abc", 40), both, method="sample", random_state=0, max_steps=300)
    with pytest.warns(PosteriorWarning) as caught:
        _ = post.mean
    told = " ".join(str(w.message) for w in caught)
    assert "has 2 modes" in told
    found = sorted(place[0] for place in post.diagnostics["modes"])
    assert found == pytest.approx([-12, 12], abs=1e-3)


def test_a_funnel_too_steep_warns():
    steep = lambda v, x, y: -0.5 * (v / 4) ** 2 - 0.5 * np.exp(-v) * (x**2 + y**2) - v  # noqa: E731
    post = Posterior(
        {"v": (-30, 30), "x": (-1e6, 1e6), "y": (-1e6, 1e6)}, steep, method="sample", random_state=0, max_steps=300
    )
    with pytest.warns(PosteriorWarning, match="do not agree"):
        _ = post.mean
    assert not post.diagnostics["converged"]


def test_evidence_and_summaries_of_draws():
    # a conjugate regression with three weights: everything is known
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=30)
    precision = X.T @ X + np.eye(3) / 9
    mean, covariance = np.linalg.solve(precision, X.T @ y), np.linalg.inv(precision)
    evidence = stats.multivariate_normal(np.zeros(30), np.eye(30) + 9 * X @ X.T).logpdf(y)

    def log_likelihood(a, b, c):
        residual = y[:, None] - X @ np.stack([a, b, c])
        return -0.5 * (residual**2).sum(axis=0) - 15 * np.log(2 * np.pi)

    prior = lambda a, b, c: -(a**2 + b**2 + c**2) / 18 - 1.5 * np.log(18 * np.pi)  # noqa: E731
    setting = {"names": list("abc"), "bounds": dict.fromkeys("abc", (-20, 20))}
    post = Posterior(prior, log_likelihood, **setting, random_state=1)
    assert post.method == "sample"
    assert_allclose(post.log_evidence, evidence, atol=0.05)
    assert_allclose(post.mean, mean, atol=0.03)
    assert_allclose(post.map, mean, atol=1e-4)
    assert_allclose(post.covariance, covariance, atol=0.01)
    assert_allclose(post.interval(0.9)[0], stats.norm(mean[0], covariance[0, 0] ** 0.5).interval(0.9), atol=0.05)
    assert_allclose(post.fwhm(), 2.3548 * np.sqrt(np.diag(covariance)), rtol=0.15)
    assert_allclose(post.gaussian("mode").covariance, covariance, atol=1e-4)
    laplace = Posterior(prior, log_likelihood, **setting, method="laplace")
    assert_allclose(laplace.log_evidence, evidence, atol=1e-3)
    again = Posterior(prior, log_likelihood, **setting, random_state=1)
    assert_allclose(again.mean, post.mean, rtol=0)


def test_start_takes_the_place_of_a_proper_prior():
    density = lambda a, b, c: -0.5 * ((a - 100) ** 2 + b**2 + c**2)  # noqa: E731
    post = Posterior(dict.fromkeys("abc", "flat"), density, start=[90.0, 1.0, 1.0], random_state=0)
    assert post.mean[0] == pytest.approx(100, abs=0.2)
    with pytest.raises(ValueError, match="rows of 3"):
        _ = Posterior(dict.fromkeys("abc", "flat"), density, start=[90.0]).mean
