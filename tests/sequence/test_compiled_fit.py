"""Fits in one compiled call come to what `em` comes to, step by step."""

import numpy as np
import pytest

from latently.sequence import ConvergenceMonitor, GaussianHMM
from latently.sequence.model import compiled_fit

LENGTHS, WEIGHTS = [100, 70, 1, 29], [1.0, 2.5, 0.5, 1.5]
PRIORS = {"means_prior": 1.0, "means_weight": 3.0, "covars_weight": 4, "transmat_prior": 2.0, "startprob_prior": 1.5}


def rows_of(K, d):
    rng = np.random.default_rng(K + d)
    states = np.cumsum(rng.uniform(size=200) < 0.1) % K
    return 2 * rng.normal(size=(K, d))[states] + rng.normal(size=(200, d))


def both(monkeypatch, X, lengths=None, weights=None, **settings):
    """Statistics of the same fit, by one call and by `em`."""
    model = GaussianHMM(random_state=0, **settings)
    one = model.fit(X, lengths, sample_weight=weights)
    found = {name: getattr(one, name) for name in ("means_", "covars_", "transmat_", "startprob_", "history_")}
    told = one.n_iter_, one.converged_, one.reason_, one.statistics_
    with monkeypatch.context() as patch:
        patch.setattr("latently.sequence.hmm.fit.climbed", lambda *_, **__: None)
        again = model.fit(X, lengths, sample_weight=weights)
    for name, value in found.items():
        np.testing.assert_allclose(value, getattr(again, name), rtol=1e-9, atol=1e-12, err_msg=name)
    assert told[:3] == (again.n_iter_, again.converged_, again.reason_)
    return told[3], again.statistics_


def is_one_call(X, **settings):
    model = GaussianHMM(random_state=0, **settings)
    data = model._read(X, None, reset=True)
    starts = model._all_starts(data, None, model._params)
    return compiled_fit.climbed(model._model(data.values), starts[0], data, None, tol=1e-2, n_iter=5) is not None


@pytest.mark.parametrize("kind", ["diag", "spherical"])
@pytest.mark.parametrize("settings", [{}, PRIORS, {"params": "tc"}, {"params": "sm"}, {"n_iter": 100, "tol": 1e-4}])
@pytest.mark.parametrize(("K", "d"), [(1, 2), (2, 1), (3, 2)])
def test_one_call_does_what_em_does(monkeypatch, kind, settings, K, d):
    X = rows_of(K, d)
    assert is_one_call(X, n_components=K, covariance_type=kind, **settings)
    one, again = both(monkeypatch, X, LENGTHS, WEIGHTS, n_components=K, covariance_type=kind, **settings)
    assert one.rows == again.rows
    for name in ("bound", "first", "transitions", "visits"):
        np.testing.assert_allclose(getattr(one, name), getattr(again, name), rtol=1e-8, atol=1e-12)
    for name in ("weight", "centre", "first", "second"):
        np.testing.assert_allclose(getattr(one.emission, name), getattr(again.emission, name), rtol=1e-8, atol=1e-9)


def test_what_one_call_cannot_do_is_left_to_em(monkeypatch):
    X = rows_of(2, 2)
    alone, far, tail = X.copy(), X.copy(), np.r_[X, np.full((60, 2), 7.0)]
    alone[3, 1] = np.nan
    far[100] = 1e4
    assert not is_one_call(alone, n_components=2)
    assert not is_one_call(tail, n_components=3)  # a state that shrinks onto the rows that are all alike
    tail[:200:3] = 7.0
    assert not is_one_call(tail, n_components=3, covars_prior=1e-9)  # the same, with ways from and to it
    assert not is_one_call(X, n_components=2, covariance_type="full")
    assert not is_one_call(X, n_components=2, startprob="stationary")
    assert not is_one_call(X, n_components=2, transmat=[[0.9, 0.1], [np.nan, np.nan]])
    assert not is_one_call(X, n_components=2, fixed={"means": [[0.0, 0.0], [np.nan, np.nan]]})
    assert not is_one_call(X, n_components=2, low_memory=True)
    for rows in (tail, far):
        both(monkeypatch, rows, n_components=3)


def test_a_monitor_and_a_checkpoint_see_every_step(tmp_path):
    model = GaussianHMM(2, random_state=0, tol=0.0, n_iter=4)
    model.monitor_ = ConvergenceMonitor(0.0, 4, False)
    assert model.fit(rows_of(2, 2)).monitor_.iter == 4
    GaussianHMM(2, random_state=0, tol=-np.inf, n_iter=4).fit(rows_of(2, 2), checkpoint=tmp_path / "fit", every=1)
    assert any((tmp_path / "fit").iterdir())


def test_parameters_that_are_written_to_are_read_anew():
    X = rows_of(2, 2)
    model = GaussianHMM(2, random_state=0).fit(X)
    before = model.score(X)
    model.means_[0] += 1.0
    moved = model.score(X)
    model.means_[0] -= 1.0
    assert moved < before
    assert model.score(X) == pytest.approx(before)
    model.transmat_[0] = [0.4, 0.4]
    with pytest.raises(ValueError, match="row 0 of transmat_ must sum to 1"):
        model.predict(X)
