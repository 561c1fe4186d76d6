"""Walkers that get lost, budgets that run out, densities without a highest point: against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from scipy.special import logsumexp

from latently.distributions import Bernoulli, Beta
from latently.infer import Posterior, PosteriorWarning, r_hat
from latently.infer.posterior.budget import Metered
from latently.infer.posterior.chains import judged
from latently.infer.posterior.diagnostics import r_hat_of_each
from latently.infer.posterior.ensemble import run, walkers_for
from latently.infer.posterior.optimise import climb, summit
from latently.infer.posterior.priors import Independent
from latently.infer.posterior.sampled import bridge
from latently.infer.posterior.slices import slice_move
from latently.infer.posterior.summaries import shortest


def normal(x):
    return -0.5 * (x**2).sum(axis=1)


# -- a walker that is stuck


@pytest.mark.parametrize("seed", range(3))
def test_no_walker_is_left_behind_in_a_heavy_tail(seed):
    truth = stats.t(3)
    inside = truth.cdf(1000) - truth.cdf(-1000)
    variance = 2 * integrate.quad(lambda x: x**2 * truth.pdf(x), 0, 1000, limit=200)[0] / inside
    post = Posterior({"a": (-1000, 1000)}, truth.logpdf, method="sample", random_state=seed)
    assert post.converged
    assert post.sd[0] == pytest.approx(np.sqrt(variance), rel=0.2)
    q = [0.01, 0.25, 0.5, 0.75, 0.99]
    assert_allclose(post.quantile(q)[0], truth.ppf(q), atol=0.06, rtol=0.1)
    assert post.log_evidence == pytest.approx(np.log(inside / 2000), abs=0.02)


def test_no_walker_is_left_behind_in_three_heavy_tails():
    density = lambda a, b, c: sum(-2 * np.log1p(x**2 / 3) for x in (a, b, c))  # noqa: E731
    post = Posterior(dict.fromkeys("abc", (-1000, 1000)), density, random_state=0)
    assert post.converged
    assert_allclose(post.sd, np.sqrt(3), rtol=0.3)
    assert_allclose(post.quantile([0.05, 0.95]), [stats.t(3).ppf([0.05, 0.95])] * 3, rtol=0.1)


def test_one_stuck_walker_among_many_is_noticed():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(128, 300, 1))
    fine = judged(draws, normal(draws[:, :, 0]), 4)
    assert fine.converged
    assert not fine.strays.any()
    draws[17] = 8 + 0.1 * rng.normal(size=(300, 1))
    stuck = judged(draws, normal(draws[:, :, 0]), 4)
    # all together hardly see it
    assert stuck.r_hat[0] < 1.01
    assert stuck.r_hat_walkers[0] < 1.1
    assert np.flatnonzero(stuck.strays).tolist() == [17]
    assert not stuck.converged


def test_each_walker_against_all_is_the_usual_r_hat():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(60, 200))
    draws[3, :100] += 3  # only in its first half
    draws[5] *= 6  # in its spread, not in its mean
    each = r_hat_of_each(draws)
    assert each[3] > 1.5
    assert each[5] > 1.2
    assert np.delete(each, [3, 5]).max() < 1.1
    assert r_hat(draws) < r_hat_of_each(draws).max()
    assert_allclose(r_hat_of_each(np.ones((3, 10))), 1)


def test_walkers_that_never_meet_are_not_converged():
    # half of every ensemble in each of two modes: the ensembles agree, the walkers do not
    rng = np.random.default_rng(2)
    draws = rng.normal(size=(128, 400, 1)) + np.tile([-6.0, 6.0], 64)[:, None, None]
    found = judged(draws, normal(draws[:, :, 0]), 4)
    assert found.r_hat[0] < 1.01
    assert found.worth < 400 or found.r_hat_walkers[0] > 1.1
    assert not found.converged
    # closer together, no single one stands out and there are draws enough: what differs is the walkers
    draws = rng.normal(size=(512, 400, 1)) + np.tile([-0.6, 0.6], 256)[:, None, None]
    found = judged(draws, normal(draws[:, :, 0]), 4)
    assert found.worth > 400
    assert not found.strays.any()
    assert found.r_hat[0] < 1.01
    assert not found.converged
    # agreement of the ensembles is asked for as well
    draws = rng.normal(size=(128, 400, 1))
    draws[:32] += 0.6
    assert not judged(draws, normal(draws[:, :, 0]), 4).converged


def test_walkers_are_worth_something_in_the_middle_and_in_the_tails():
    rng = np.random.default_rng(3)
    assert not judged(rng.normal(size=(8, 30, 1)), np.zeros((8, 30)), 4).converged  # 240 draws are too few


def test_a_walker_where_nothing_leads_back_is_put_among_the_others_and_not_kept():
    # a second mode of no weight, a million standard deviations away: no move leads there or back
    far = np.array([1e6, 0.0])
    both = lambda x: np.logaddexp(normal(x), normal((x - far) * 1e3) - 60)  # noqa: E731
    rng = np.random.default_rng(0)
    start = rng.normal(size=(walkers_for(2), 2))
    start[40] = far
    found = run(Metered(both, 10**6), start, rng)
    assert found.converged
    assert np.abs(found.draws).max() < 10
    # with no budget for more, nothing is put right, and that is said
    found = run(Metered(both, 10**6), start, np.random.default_rng(0), max_steps=300)
    assert np.flatnonzero(found.strays).tolist() == [40]
    assert not found.converged


# -- moves


@pytest.mark.parametrize("stretch", [0.05, 1.0, 300.0])
def test_a_slice_move_keeps_the_density_whatever_its_length(stretch):
    # draws from the density stay draws from it: a gamma, whose slices end at a bound
    rng = np.random.default_rng(4)
    truth = stats.gamma(2.0)
    at = truth.rvs(size=(40_000, 1), random_state=rng)
    moved = slice_move(lambda x: truth.logpdf(x[:, 0]), at, truth.logpdf(at[:, 0]), np.full_like(at, stretch), rng)
    assert stats.kstest(moved.at[:, 0], truth.cdf).pvalue > 1e-3
    assert_allclose(moved.height, truth.logpdf(moved.at[:, 0]))
    if stretch > 1:
        assert moved.narrowed.mean() > 5 * moved.widened.mean()


def test_two_modes_of_different_weight_get_their_weights():
    # three quarters on the right: only jumps by whole differences lead from one to the other
    hill = lambda at, *x: -0.5 * sum((v - at) ** 2 for v in x)  # noqa: E731
    both = lambda *x: np.logaddexp(np.log(0.25) + hill(-15, *x), np.log(0.75) + hill(15, *x))  # noqa: E731
    post = Posterior(dict.fromkeys("abc", (-50, 50)), both, random_state=0)
    with pytest.warns(PosteriorWarning, match="2 modes"):
        _ = post.mean
    assert post.expect(lambda a, b, c: a > 0) == pytest.approx(0.75, abs=0.05)


# -- the budget


def funnel(v, x, y):
    return -0.5 * (v / 3) ** 2 - 0.5 * np.exp(-v) * (x**2 + y**2) - v


FUNNEL = {"v": (-20, 20), "x": (-1e4, 1e4), "y": (-1e4, 1e4)}


@pytest.mark.parametrize("budget", [2000, 60_000])
def test_a_budget_that_is_spent_is_told(budget):
    asked = [0]

    def counted(v, x, y):
        asked[0] += np.size(v)
        return funnel(v, x, y)

    post = Posterior(FUNNEL, counted, random_state=0, max_evaluations=budget)
    with pytest.warns(PosteriorWarning, match=r"budget is spent \(.*R-hat .* effective sample size .*raise max_eval"):
        assert not post.converged
    assert asked[0] <= post.diagnostics["evaluations"] + 100  # and a look whether the function takes arrays
    # 16 steps are made in any case
    assert post.diagnostics["evaluations"] < max(1.1 * budget, 40_000)
    assert np.isfinite([*post.mean, *post.sd, post.log_evidence]).all()


def test_a_steep_funnel_ends_and_is_nearly_right():
    post = Posterior(FUNNEL, funnel, random_state=0)
    with pytest.warns(PosteriorWarning, match="budget is spent"):
        _ = post.mean
    assert post.diagnostics["evaluations"] <= 1_100_000
    assert post.mean[0] == pytest.approx(0, abs=0.5)
    assert post.sd[0] == pytest.approx(3, abs=0.4)


def test_fewer_draws_than_asked_for_are_told():
    few = {"max_evaluations": 400_000}
    post = Posterior(dict.fromkeys("abc", stats.norm()), lambda a, b, c: 0 * a, random_state=0, n_samples=10**6, **few)
    with pytest.warns(PosteriorWarning, match="chains agree, but there are fewer draws than asked for"):
        assert post.converged


EFFECTS, ERRORS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def test_eight_schools():
    # Gelman et al., Bayesian Data Analysis, section 5.5, as in posteriordb: mu 4.4 (sd 3.3), tau 3.6 (sd 3.2)
    def log_likelihood(mu, tau, *units):
        effects = mu + tau * np.stack(units)
        return -0.5 * (((effects.T - EFFECTS) / ERRORS) ** 2).sum(axis=1)

    prior = {"mu": stats.norm(0, 5), "tau": stats.halfcauchy(0, 5)}
    prior |= {f"unit{j}": stats.norm(0, 1) for j in range(8)}
    post = Posterior(prior, log_likelihood, random_state=0)
    assert post.converged
    assert post.diagnostics["evaluations"] <= 10**6
    assert_allclose(post.mean[:2], [4.4, 3.6], atol=0.35)
    assert_allclose(post.sd[:2], [3.3, 3.2], atol=0.35)


@pytest.mark.filterwarnings("ignore::latently.infer.PosteriorWarning")
def test_a_bar_is_drawn_on_a_terminal_only(monkeypatch, capfd):
    def ask(verbose):
        _ = Posterior({"a": (-9, 9)}, lambda a: -a * a, method="sample", max_steps=30, verbose=verbose).mean
        return capfd.readouterr().err

    assert ask(True) == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    assert "posterior" in ask(True)
    assert ask(False) == ""


@pytest.mark.parametrize("name", ["n_samples", "max_steps", "max_evaluations"])
@pytest.mark.parametrize("value", [0, 2.5, True, "x"])
def test_limits_are_whole_numbers(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number"):
        Posterior({"a": (0, 1)}, lambda a: a, **{name: value})


# -- evidence


def test_the_bridge_counts_draws_for_what_they_are_worth():
    # chains that hardly move: 64 x 400 draws are worth few. The estimate is the root of Meng and Wong's equation
    rng = np.random.default_rng(5)
    draws = np.zeros((64, 400, 1))
    draws[:, 0, 0] = rng.normal(size=64)
    for i in range(1, 400):
        draws[:, i, 0] = 0.98 * draws[:, i - 1, 0] + np.sqrt(1 - 0.98**2) * rng.normal(size=64)
    chains = judged(draws, normal(draws.reshape(-1, 1)).reshape(64, 400), 4)
    assert chains.ess_bulk[0] < 1000
    found = bridge(Metered(normal, 10**6), chains, np.random.default_rng(6))
    first, second = draws[:, :200].reshape(-1, 1), draws[:, 200:].reshape(-1, 1)
    proposal = stats.multivariate_t(first.mean(axis=0), np.cov(first, rowvar=False).reshape(1, 1), df=5)
    fresh = proposal.rvs(len(second), random_state=np.random.default_rng(6)).reshape(-1, 1)
    here, there = (normal(x) - proposal.logpdf(x) for x in (second, fresh))
    n1, n2 = chains.ess_bulk[0] / 2, len(fresh)
    top = logsumexp(there - np.logaddexp(np.log(n1) + there, np.log(n2) + found)) - np.log(n2)
    bottom = logsumexp(-np.logaddexp(np.log(n1) + here, np.log(n2) + found)) - np.log(len(here))
    assert found == pytest.approx(top - bottom, abs=1e-7)
    assert found == pytest.approx(0.5 * np.log(2 * np.pi), abs=0.1)


# -- no highest point


def test_jeffreys_prior_is_a_prior():
    truth, q = stats.beta(0.5, 0.5), [0.01, 0.1, 0.5, 0.9, 0.99]
    for prior in (truth, Beta(0.5, 0.5)):
        post = Posterior({"p": prior}, lambda p: 0 * p)
        assert_allclose([post.mean[0], post.sd[0]], [truth.mean(), truth.std()], rtol=1e-7)
        assert_allclose(post.quantile(q)[0], truth.ppf(q), rtol=1e-6)
        assert post.log_evidence == pytest.approx(0, abs=1e-7)
        with pytest.raises(ValueError, match="no highest point"):
            _ = post.map
        with pytest.raises(ValueError, match="rises without bound"):
            post.error_bars()


@pytest.mark.parametrize(
    ("prior", "log_likelihood", "truth"),
    [
        (stats.beta(0.5, 0.5), lambda p: 3 * np.log(p), stats.beta(3.5, 0.5)),
        (stats.beta(0.5, 0.5), lambda p: 3 * np.log(p) + np.log1p(-p), stats.beta(3.5, 1.5)),
        (stats.gamma(0.3), lambda x: -x, stats.gamma(0.3, scale=0.5)),
        (stats.gamma(0.15), lambda x: 0 * x, stats.gamma(0.15)),
    ],
)
def test_densities_that_are_infinite_at_an_end(prior, log_likelihood, truth):
    post = Posterior({"p": prior}, log_likelihood)
    assert post.converged
    assert_allclose([post.mean[0], post.sd[0]], [truth.mean(), truth.std()], rtol=1e-7)
    assert_allclose(post.quantile([0.3, 0.5, 0.95])[0], truth.ppf([0.3, 0.5, 0.95]), rtol=1e-6)


def test_two_and_three_parameters_that_are_infinite_at_their_ends():
    truth = stats.beta(0.5, 0.5)
    two = Posterior(dict.fromkeys("pq", truth), lambda p, q: 0 * p)
    assert_allclose([*two.mean, *two.sd], [0.5, 0.5, truth.std(), truth.std()], rtol=1e-5)
    assert two.log_evidence == pytest.approx(0, abs=1e-5)
    three = Posterior(dict.fromkeys("pqr", truth), lambda p, q, r: 0 * p, random_state=0)
    with pytest.warns(PosteriorWarning, match="modes"):
        _ = three.mean
    assert_allclose(three.mean, 0.5, atol=0.03)
    assert_allclose(three.sd, truth.std(), atol=0.02)
    assert three.log_evidence == pytest.approx(0, abs=0.05)
    with pytest.raises(ValueError, match="no highest point"):
        _ = three.map


def test_an_exact_posterior_without_a_mode_has_everything_else():
    post, truth = Posterior(Beta(0.5, 0.5), Bernoulli(), [1, 1, 1]), stats.beta(3.5, 0.5)
    assert_allclose([post.mean[0], post.sd[0]], [truth.mean(), truth.std()])
    assert_allclose(post.interval(0.9)[0], truth.interval(0.9))
    told = post.summary()["probabilities"]
    assert told["map"] is None
    assert told["half_maximum"] is None
    with pytest.raises(ValueError, match="no mode"):
        _ = post.map


def test_what_is_undefined_on_the_very_end_of_a_prior_is_let_pass():
    # a spread of exactly zero: 0 / 0; nobody has to mind it
    def log_likelihood(mean, spread, x):
        return -0.5 * ((x - mean) / spread) ** 2 - np.log(spread) - 0.5 * x**2

    target = Posterior({"mean": stats.norm(0, 1), "spread": (0, 2), "x": (-5, 5)}, log_likelihood)._target
    for rows in ([[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 1.0]]):  # as numbers, as arrays
        found = target(np.array(rows))
        assert found[0] == -np.inf
        assert np.isfinite(found[1:]).all()
    with pytest.raises(ValueError, match="log likelihood is nan at p=0.5"):
        _ = Posterior({"p": (0, 1)}, lambda p: np.where(p == 0.5, np.nan, 0.0)).mean


# -- climbing


def test_climbing_takes_few_calls_and_kinks_do_not_stop_it():
    calls = []

    def smooth(x):
        calls.append(len(x))
        return -0.5 * ((x - np.arange(10)) ** 2 * np.arange(1, 11)).sum(axis=1)

    far = np.tile([-100.0, 100.0], (10, 1))
    place, height = climb(smooth, np.full(10, 3.0), np.ones(10), far)
    assert_allclose(place, np.arange(10), atol=1e-5)
    assert height == pytest.approx(0, abs=1e-8)
    assert len(calls) < 100
    kink = lambda x: -np.abs(x - [1.0, 2.0, 3.0]).sum(axis=1)  # noqa: E731
    place, _ = climb(kink, np.zeros(3), np.ones(3), far[:3])
    assert_allclose(place, [1, 2, 3], atol=1e-4)


def test_a_density_that_rises_without_bound_has_no_summit():
    ends = np.array([[0.0, 1.0]])
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match="rises without bound"):
        summit(lambda x: -0.5 * np.log(x[:, 0]), np.array([0.3]), np.array([0.2]), ends)
    at_end = summit(lambda x: x[:, 0], np.array([0.3]), np.array([0.2]), ends)
    assert at_end == pytest.approx([1.0])


# -- the shortest interval, priors that are alike


@pytest.mark.parametrize(
    "truth", [stats.beta(2, 5), stats.gamma(1.5), stats.lognorm(0.7), stats.expon(), stats.beta(5, 1), stats.norm(3, 2)]
)
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_no_interval_is_shorter(truth, level):
    low, high = shortest(truth, level)
    assert truth.cdf(high) - truth.cdf(low) == pytest.approx(level, abs=1e-9)
    below = np.linspace(0, 1 - level, 20_001)
    widths = truth.ppf(np.minimum(below + level, 1.0)) - truth.ppf(below)
    assert high - low <= widths.min() * (1 + 1e-9)
    assert high - low == pytest.approx(widths.min(), rel=1e-6)


def test_priors_that_are_alike_are_asked_together():
    parts = {"a": stats.norm(0, 1), "b": stats.gamma(2, scale=3), "c": stats.norm(0, 1), "d": stats.norm(0, 2)}
    parts |= {"e": stats.norm(loc=0, scale=1), "f": "flat", "g": (0, 9), "h": Beta(2, 3)}
    theta = np.random.default_rng(0).random((50, 8))
    expected = sum(p.logpdf(theta[:, j]) for j, p in enumerate(parts.values()) if hasattr(p, "logpdf"))
    expected = expected - np.log(9) + stats.beta(2, 3).logpdf(theta[:, 7])
    assert_allclose(Independent(parts).log_prob(theta), expected)
