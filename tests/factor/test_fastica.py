"""FastICA against scikit-learn's, and what it promises beyond."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import FastICA as Peer
from sklearn.exceptions import ConvergenceWarning
from tests.factor.ica_signals import heavy_and_light

from latently.factor import FastICA
from latently.learn import threads


def assert_same_rows(A, B, rtol=1e-7):
    """The same rows, up to order and sign."""
    at = np.abs(A @ B.T / np.linalg.norm(A, axis=1)[:, None] / np.linalg.norm(B, axis=1)).argmax(axis=1)
    assert sorted(at) == list(range(len(A)))
    signs = np.sign((A * B[at]).sum(axis=1))
    np.testing.assert_allclose(A, B[at] * signs[:, None], rtol=rtol, atol=rtol * np.abs(A).max())


@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_steps_are_those_of_scikit_learn(algorithm, fun):
    X, _ = heavy_and_light(3000, 5)
    options = {"algorithm": algorithm, "fun": fun, "w_init": np.random.default_rng(3).normal(size=(5, 5))}
    ours, peer = FastICA(**options).fit(X), Peer(**options).fit(X)
    assert_same_rows(ours.components_, peer.components_)
    assert_same_rows(ours.mixing_.T, peer.mixing_.T)
    assert ours.n_iter_ == peer.n_iter_
    np.testing.assert_allclose(ours.mean_, peer.mean_)
    np.testing.assert_allclose(ours.whitening_ / np.sqrt(len(X)), peer.whitening_, rtol=1e-7)


def test_scale_of_arbitrary_variance_is_that_of_scikit_learn():
    X, _ = heavy_and_light(2000, 4)
    options = {"whiten": "arbitrary-variance", "random_state": 0}
    ours, peer = FastICA(**options).fit(X), Peer(**options).fit(X)
    assert_same_rows(ours.components_, peer.components_)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, atol=1e-9)


def test_alpha_of_logcosh():
    X, _ = heavy_and_light(2000, 3)
    options = {"fun_args": {"alpha": 1.7}, "random_state": 0}
    assert_same_rows(FastICA(**options).fit(X).components_, Peer(**options).fit(X).components_)
    with pytest.raises(ValueError, match=r"alpha must be in \[1,2\]"):
        FastICA(fun_args={"alpha": 3.0}).fit(X)


def test_a_function_of_ones_own_is_as_good_as_a_name():
    X, _ = heavy_and_light(40_000, 3)

    def cube(x):
        return x**3, (3 * x**2).mean(axis=-1)

    for algorithm in ("parallel", "deflation"):
        named = FastICA(fun="cube", algorithm=algorithm, random_state=0).fit(X)
        own = FastICA(fun=cube, algorithm=algorithm, random_state=0).fit(X)
        np.testing.assert_allclose(own.components_, named.components_, atol=1e-9)


def test_a_function_that_gives_one_value_is_refused():
    with pytest.raises(ValueError, match="fun must return two values"):
        FastICA(fun=np.tanh).fit(load_iris().data)


def test_order_and_sign_are_fixed():
    """By what a source explains of the data, whatever the start."""
    X, _ = heavy_and_light(20_000, 6)
    found = [FastICA(random_state=seed, tol=1e-10).fit(X) for seed in range(4)]
    for model in found:
        explained = (model.mixing_**2).sum(axis=0)
        assert (np.diff(explained) <= 0).all()
        assert (model.mixing_[np.abs(model.mixing_).argmax(axis=0), range(6)] > 0).all()
        np.testing.assert_allclose(model.components_, found[0].components_, atol=1e-4)


def test_threads_change_nothing():
    X, _ = heavy_and_light(50_000, 5)
    for options in ({}, {"algorithm": "deflation"}):
        found = []
        for n in (1, 2, 3):
            with threads(n):
                found.append(FastICA(random_state=0, **options).fit(X).components_)
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])


def test_files_give_the_same(tmp_path):
    X, _ = heavy_and_light(30_000, 4)
    pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "x.parquet", row_group_size=7000)
    here = FastICA(random_state=0).fit(X)
    there = FastICA(random_state=0).fit(str(tmp_path / "x.parquet"))
    np.testing.assert_allclose(there.components_, here.components_, rtol=1e-9)
    assert list(there.feature_names_in_) == list("abcd")
    there.transform(str(tmp_path / "x.parquet"), to=tmp_path / "s.parquet")
    np.testing.assert_allclose(pd.read_parquet(tmp_path / "s.parquet").to_numpy(), here.transform(X), atol=1e-9)


def test_half_steps_end_a_cycle():
    """Gaussian data of few rows: full steps go round in circles, as scikit-learn's do."""
    X = np.random.default_rng(5).normal(size=(80, 4))
    ended = [FastICA(random_state=seed, tol=1e-6).fit(X).converged_ for seed in range(8)]
    assert all(ended)


def test_running_out_of_steps_is_told():
    X, _ = heavy_and_light(2000, 5)
    with pytest.warns(ConvergenceWarning, match="FastICA did not converge.*in 1 iterations"):
        model = FastICA(max_iter=1, random_state=0).fit(X)
    assert not model.converged_


def test_reconstruction_of_digits():
    X = load_digits().data
    model = FastICA(20, random_state=0, max_iter=500).fit(X)
    variance = ((X - X.mean(axis=0)) ** 2).sum()
    lost = ((model.inverse_transform(model.transform(X)) - X) ** 2).sum() / variance
    eigenvalues = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    assert lost == pytest.approx(eigenvalues[20:].sum() / variance, rel=1e-9)  # what PCA loses
    np.testing.assert_allclose(np.cov(model.transform(X).T, bias=True), np.eye(20), atol=1e-10)
