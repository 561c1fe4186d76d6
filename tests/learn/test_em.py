import io
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from toy import START, Coins, TwoCoins, tosses

from latently.data.open import as_source
from latently.learn import ObjectiveFell, em, free_energy, reducing
from latently.learn.engine.progress import both, progress


def fit(X, model=None, **options):
    with reducing(as_source(X)) as reduce:
        return em(model or TwoCoins(), START, reduce, **options)


def log_likelihood(params, X):
    return float(logsumexp(TwoCoins().log_joint(params, X), axis=1).sum())


def test_the_trace_is_the_log_likelihood_and_never_falls():
    X = tosses()
    done = fit(X, tol=1e-10, max_iter=500)
    assert done.converged
    assert done.reason == "converged"
    assert np.diff(done.trace).min() > -1e-9 * len(X)
    assert done.trace[0] == pytest.approx(log_likelihood(START, X))
    assert log_likelihood(done.params, X) >= done.trace[-1] - 1e-9
    assert done.rows == len(X)


def test_the_optimum_is_a_stationary_point():
    X = tosses(2000)
    best = fit(X, tol=1e-13, max_iter=5000).params
    for step in (1e-4, -1e-4):
        for other in (Coins(best.weight + step, best.heads), Coins(best.weight, best.heads + step)):
            assert log_likelihood(other, X) < log_likelihood(best, X)


def test_running_out_of_iterations_is_not_convergence():
    done = fit(tosses(), tol=1e-12, max_iter=2)
    assert (done.converged, done.reason, done.n_iter) == (False, "max_iter", 2)


@pytest.mark.parametrize("times", [1, 100])
def test_the_tolerance_is_that_of_a_row(times):
    X, tol = np.repeat(tosses(), times, axis=0), 1e-4
    done = fit(X, tol=tol, max_iter=500)
    rises = np.diff(done.trace) / len(X)
    assert done.converged
    assert rises[-1] < tol <= rises[:-1].min()
    assert done.n_iter == fit(tosses(), tol=tol, max_iter=500).n_iter  # a fit to copies of the rows ends with it


def test_zero_iterations_keep_the_start():
    done = fit(tosses(), max_iter=0)
    assert done.params is START
    assert (done.n_iter, done.converged, len(done.trace)) == (0, False, 1)


def test_a_hook_sees_every_step_and_can_stop():
    seen = []

    def hook(step):
        seen.append(step)
        return step.iteration == 3

    done = fit(tosses(), tol=0.0, on_iteration=hook)
    assert (done.reason, done.converged, done.n_iter) == ("stopped", False, 3)
    assert [step.iteration for step in seen] == [1, 2, 3]
    assert seen[0].change == np.inf
    assert seen[1].objective - seen[0].objective == seen[1].change


def test_a_rule_of_the_models_own_replaces_tol():
    done = fit(tosses(), tol=1e9, stop=lambda step: step.iteration == 4)
    assert (done.n_iter, done.converged) == (4, True)


def test_a_previous_objective_lets_a_continued_fit_converge_at_once():
    X = tosses()
    done = fit(X, tol=1e-10, max_iter=500)
    with reducing(as_source(X)) as reduce:
        again = em(TwoCoins(), done.params, reduce, tol=1e-6, max_iter=1, previous=done.trace[-1])
    assert again.converged


class Falling(TwoCoins):
    def update(self, params, stats):
        return START if params is not START else replace(START, heads=np.array([0.25, 0.7]))


def test_a_falling_objective_is_an_error():
    with pytest.raises(ObjectiveFell, match="fell from .* in iteration 3"):
        fit(tosses(), Falling(), tol=0.0)


class Breaking(TwoCoins):
    def log_prior(self, params):
        return np.nan


def test_an_objective_that_is_not_finite_is_an_error():
    with pytest.raises(FloatingPointError, match="objective is nan"):
        fit(tosses(), Breaking())


def test_free_energy_is_the_likelihood_less_the_divergence():
    X, rng = tosses(50), np.random.default_rng(1)
    joint = TwoCoins().log_joint(START, X)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert free_energy(TwoCoins(), START, posterior, X) == pytest.approx(log_likelihood(START, X))
    q = rng.dirichlet([1, 1], size=50)
    divergence = (q * np.log(q / posterior)).sum()
    assert divergence > 0
    assert free_energy(TwoCoins(), START, q, X) == pytest.approx(log_likelihood(START, X) - divergence)
    hard = np.eye(2)[posterior.argmax(axis=1)]
    assert free_energy(TwoCoins(), START, hard, X) == pytest.approx(joint.max(axis=1).sum())


@pytest.mark.parametrize(
    ("q", "message"),
    [([[1.0, 0.0, 0.0]], "shape"), ([[0.7, 0.7]], "sum to one"), ([[1.5, -0.5]], "non-negative")],
)
def test_free_energy_refuses_what_is_no_distribution(q, message):
    with pytest.raises(ValueError, match=message):
        free_energy(TwoCoins(), START, q, np.zeros((1, 1)))


def test_a_bar_is_drawn_on_a_terminal_only(monkeypatch):
    import rich.console

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    real = rich.console.Console
    monkeypatch.setattr(rich.console, "Console", lambda **kw: real(file=screen, force_terminal=True, width=120))
    with progress("coins", 5, verbose=1) as hook:
        fit(tosses(), tol=0.0, max_iter=5, on_iteration=hook)
    assert "coins" in screen.getvalue()
    assert "5/5" in screen.getvalue()
    last = screen.getvalue().rsplit("per row", 1)[1]
    assert 500 / 60 < float(re.search(r"([\d.e+]+)\S* rows/s", last)[1]) < 1e9


def test_nothing_is_drawn_when_nobody_looks(capsys):
    with progress("coins", 5, verbose=1) as hook:  # pytest's stderr is no terminal
        assert hook is None
    with progress("coins", 5, verbose=0) as hook:
        assert hook is None
    assert capsys.readouterr().err == ""


def test_hooks_are_called_together():
    calls = []
    joined = both(None, lambda s: calls.append("a"), lambda s: calls.append("b") or True)
    assert joined("step")
    assert calls == ["a", "b"]
    assert both(None, None) is None
