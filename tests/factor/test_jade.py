"""JADE: cumulants by definition, precision by theory."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.factor.ica_signals import heavy_and_light

from latently.data import as_source
from latently.factor import JADE
from latently.factor.ica.joint.cumulants import cumulant_matrices, fobi, pairs_of
from latently.factor.ica.joint.joint_diagonalisation import joint_diagonalisation
from latently.factor.ica.quality import minimum_distance
from latently.factor.ica.white_data import WhiteData
from latently.factor.ica.whitening import whitening_of
from latently.learn import reducing


def test_cumulants_are_those_of_the_definition():
    X, _ = heavy_and_light(3000, 3)
    with reducing(as_source(X, chunk_rows=700)) as reduce:
        data = WhiteData(reduce, whitening_of(reduce, None))
        Q = cumulant_matrices(data)
        Z = data.whitening(X)
    one = np.eye(3)
    for p, (i, j) in enumerate(zip(*pairs_of(3), strict=True)):
        fourth = np.einsum("n,nk,nl->kl", Z[:, i] * Z[:, j], Z, Z) / len(Z)
        by_hand = fourth - one[i, j] * one - np.outer(one[i], one[j]) - np.outer(one[j], one[i])
        np.testing.assert_allclose(Q[:, :, p], by_hand * (1 if i == j else np.sqrt(2)), atol=1e-10)


def test_kurtosis_is_that_of_the_sources():
    X, _ = heavy_and_light(5000, 4)
    model = JADE().fit(X)
    np.testing.assert_allclose(model.kurtosis_, stats.kurtosis(model.transform(X)), atol=1e-9)


def test_precision_is_the_asymptotic_one():
    """Mean of n (p - 1) MD^2, in the limit 23.03 for JADE and 40.45 for FOBI.

    Numbers of Miettinen, Nordhausen and Taskinen, JSS 76(2), for exponential, uniform and normal sources. Within three
    standard errors of the mean of 150 tables.
    """
    rng, n, found = np.random.default_rng(0), 16_000, []
    for _ in range(150):
        S = np.column_stack([rng.exponential(size=n), rng.uniform(size=n), rng.normal(size=n)])
        model = JADE().fit(S)
        simple = fobi((S - model.mean_) @ model.whitening_.T) @ model.whitening_
        scale = np.diag(S.std(axis=0))
        found.append([2 * n * minimum_distance(W, scale) ** 2 for W in (model.components_, simple)])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(150)
    assert (np.abs(mean - [23.03, 40.45]) < 3 * error).all()
    assert (error < [2.0, 3.5]).all()  # or the line above says nothing


def test_joint_diagonalisation_of_what_can_be_diagonal():
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    M = np.stack([V.T @ np.diag(rng.normal(size=6)) @ V for _ in range(9)], axis=2)
    found, diagonal, _, converged = joint_diagonalisation(M)
    assert converged
    np.testing.assert_allclose(found @ found.T, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(np.sort(np.abs(found @ V.T), axis=1)[:, -1], 1, atol=1e-10)
    off = diagonal[~np.eye(6, dtype=bool)]
    assert np.abs(off).max() < 1e-9
    np.testing.assert_allclose(diagonal, np.einsum("ia,abm,jb->ijm", found, M, found), atol=1e-12)


def test_joint_diagonalisation_is_a_minimum():
    """Of matrices that no rotation makes diagonal: no small rotation does better."""
    rng = np.random.default_rng(1)
    M = rng.normal(size=(4, 4, 7))
    M = M + M.transpose(1, 0, 2)
    _, D, _, converged = joint_diagonalisation(M, max_iter=500)
    assert converged

    def off(D):
        return (D**2).sum() - (D[np.arange(4), np.arange(4)] ** 2).sum()

    for p in range(4):
        for q in range(p):
            for angle in (1e-3, -1e-3):
                R = np.eye(4)
                R[[p, q], [p, q]], R[p, q], R[q, p] = np.cos(angle), np.sin(angle), -np.sin(angle)
                assert off(np.einsum("ia,abm,jb->ijm", R, D, R)) > off(D)


def test_files_give_the_same(tmp_path):
    X, _ = heavy_and_light(20_000, 3)
    pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "x.parquet")
    np.testing.assert_allclose(
        JADE().fit(str(tmp_path / "x.parquet")).components_, JADE().fit(X).components_, rtol=1e-9
    )


def test_passes_that_run_out_are_warned_of():
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations"):
        JADE(max_iter=1).fit(heavy_and_light(2000, 5)[0])
