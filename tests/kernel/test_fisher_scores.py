"""Fisher scores of every mixture against numerical gradients of its log density."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

from latently.cluster import BernoulliMixture, GaussianMixture, Mixture
from latently.distributions import Gaussian
from latently.distributions.components.gaussian.gradient import pack, unpack
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.unconstrained import Reader
from latently.kernel import FisherKernel
from latently.kernel.fisher import fisher_scores

IRIS = load_iris(as_frame=True).data
STEP = 1e-5


def with_missing(table, seed=0):
    gone = np.random.default_rng(seed).random(table.shape) < 0.15
    return table.mask(gone) if isinstance(table, pd.DataFrame) else np.where(gone, np.nan, table)


def numerical(vector, log_density):
    """(n, P) central differences of log densities (n,) that depend on a vector (P,)."""
    steps = STEP * np.eye(len(vector))
    return np.column_stack([(log_density(vector + s) - log_density(vector - s)) / (2 * STEP) for s in steps])


def mixed_table():
    rng = np.random.default_rng(1)
    side = rng.integers(0, 2, 60)
    table = pd.DataFrame({
        "a": rng.normal(3.0 * side, 1.0), "b": rng.normal(size=60), "c": rng.normal(size=60),
        "n": rng.poisson(2 + 3 * side), "kind": np.array(["x", "y", "z"])[(side + rng.integers(0, 2, 60))],
        "angle": rng.vonmises(side, 3.0),
    })  # fmt: skip
    table["c"] += table["b"]
    return table


FAMILIES = {("b", "c"): Gaussian(), "n": "counts", "angle": "von_mises"}


@pytest.mark.parametrize("missing", [False, True])
def test_mixtures_of_mixed_types(missing):
    table = with_missing(mixed_table()) if missing else mixed_table()
    mixture = Mixture(2, families=FAMILIES, random_state=0).fit(table)
    model, params = mixture.model_, mixture.parameters_
    rows = mixture._read(table[:20])
    vector = np.concatenate(
        [np.log(params.weights), *(b.pack(t) for b, t in zip(model.blocks, params.parts, strict=True))]
    )

    def log_density(numbers):
        reader = Reader(numbers)
        logits = reader.take((2,))
        parts = tuple(b.unpack(t, reader) for b, t in zip(model.blocks, params.parts, strict=True))
        moved = type(params)(np.exp(logits) / np.exp(logits).sum(), parts)
        return np.logaddexp.reduce(model.log_joint(moved, rows), axis=1)

    assert np.allclose(log_density(vector), mixture.score_samples(table[:20]))
    assert np.allclose(mixture.fisher_scores(table[:20]), numerical(vector, log_density), atol=1e-6)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_gaussian_mixtures(kind, missing):
    X = with_missing(IRIS.to_numpy()) if missing else IRIS.to_numpy()
    mixture = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    rows = X[::10]
    params = GaussianParams.in_own_units(kind, mixture.means_, mixture.covariances_)
    other = GaussianMixture(2, covariance_type=kind, random_state=0, max_iter=0)

    def log_density(numbers):
        moved = unpack(params, Reader(numbers[2:]))
        weights = np.exp(numbers[:2]) / np.exp(numbers[:2]).sum()
        precisions = np.linalg.inv(moved.covariances) if moved.is_matrix else 1 / moved.covariances
        precisions = (precisions + np.swapaxes(precisions, -1, -2)) / 2 if moved.is_matrix else precisions
        other.set_params(weights_init=weights, means_init=moved.means, precisions_init=precisions)
        return other.fit(X).score_samples(rows)

    vector = np.concatenate([np.log(mixture.weights_), pack(params)])
    assert np.allclose(fisher_scores(mixture, rows), numerical(vector, log_density), atol=1e-4, rtol=1e-5)


def test_bernoulli_mixtures():
    X = with_missing((load_digits().data[:100, 18:24] > 7).astype(float))
    mixture = BernoulliMixture(2, random_state=0).fit(X)
    p = np.clip(mixture.probabilities_, 1e-12, 1 - 1e-12)

    def log_density(numbers):
        weights = np.exp(numbers[:2]) / np.exp(numbers[:2]).sum()
        q = 1 / (1 + np.exp(-numbers[2:].reshape(2, 6)))
        logs = np.nan_to_num(X)[:, None] * np.log(q) + (1 - np.nan_to_num(X))[:, None] * np.log(1 - q)
        return np.log(np.exp(np.where(np.isnan(X)[:, None], 0.0, logs).sum(axis=2)) @ weights)

    vector = np.concatenate([np.log(mixture.weights_), np.log(p / (1 - p)).ravel()])
    assert np.allclose(fisher_scores(mixture, X), numerical(vector, log_density), atol=1e-5)


def test_a_row_with_nothing_observed_has_no_gradient():
    for kind in ("full", "diag"):
        mixture = GaussianMixture(2, covariance_type=kind, random_state=0).fit(IRIS.to_numpy())
        assert np.allclose(mixture.fisher_scores(np.full((1, 4), np.nan)), 0.0)


def test_what_is_fixed_has_no_gradient():
    table = mixed_table()[["a", "n"]]
    fixed = {0: {"a": {"mean": 1.0}}}
    scores = Mixture(2, families={"n": "counts"}, fixed=fixed, random_state=0).fit(table).fisher_scores(table)
    assert (np.abs(scores).max(axis=0) == 0).sum() == 1


@pytest.mark.parametrize("information", ["empirical", "diagonal", "exact", "none"])
def test_kernels_of_mixed_tables(information):
    table = with_missing(mixed_table())
    mixture = Mixture(2, families=FAMILIES, random_state=0).fit(table)
    kernel = FisherKernel(mixture, information=information, n_draws=200, normalize=True)
    K = kernel(table)
    assert np.allclose(np.diagonal(K), 1)
    assert np.linalg.eigvalsh(K)[0] > -1e-8
    assert np.allclose(kernel(table[:5], table), K[:5], atol=1e-7 if information != "exact" else 1e-6)
