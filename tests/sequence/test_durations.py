"""States with durations, against an enumeration of all ways to cut a sequence into stays."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from scipy import optimize, special, stats

from latently.distributions import Bernoulli, Categorical, Exponential, Gaussian, Poisson
from latently.distributions.families.mixture import MixtureDistribution
from latently.sequence import HiddenMarkovModel
from latently.sequence.emissions.mixture_of import MixtureOf
from latently.sequence.model.durations import fitted, log_durations

beyond = pytest.mark.filterwarnings("ignore:durations are cut at max_duration")


# an enumeration that shares nothing with the package but the numbers of the model


def cut_durations(weights):
    """Probabilities of durations 1, 2, ...: weights that are cut, rescaled."""
    return np.asarray(weights) / np.sum(weights)


def all_paths(start, A, p, b):
    """Joint probability of data and path, of every path that is possible, by summing over all ways to cut it.

    One stay after the other, each with a whole duration; the last reaches to the end of the data or beyond.
    """
    (T, K), D = b.shape, p.shape[1]
    start, A, p, b = (np.asarray(part).tolist() for part in (start, A, p, b))
    joint = defaultdict(float)

    def extend(path, q):
        if len(path) >= T:
            joint[path[:T]] += q * math.prod(row[k] for row, k in zip(b, path, strict=False))
            return
        for k in range(K):
            entry = A[path[-1]][k] if path else start[k]
            for d in range(1, D + 1) if entry > 0 else ():
                if p[k][d - 1] > 0:
                    extend(path + (k,) * d, q * entry * p[k][d - 1])

    extend((), 1.0)
    return {path: q for path, q in joint.items() if q > 0}


def random_durations(rng, family, D):
    """A distribution of the package, and its weights of durations 1 to D by scipy."""
    d = np.arange(D)
    if family == "poisson":
        rate = rng.gamma(2.0, 1.5)
        return Poisson(rate), stats.poisson.pmf(d, rate)
    if family == "categorical":
        q = rng.dirichlet(np.ones(D + rng.integers(0, 2)))
        return Categorical(q), q[:D]
    if family == "exponential":
        rate = rng.gamma(1.0, 0.5) + 0.01
        return Exponential(rate), stats.expon.pdf(d, scale=1 / rate)
    if family == "gaussian":
        mean, sd = rng.uniform(-1, D), rng.uniform(0.5, 3.0)
        return Gaussian(mean, sd**2), stats.norm.pdf(d, mean, sd)
    rates, w = rng.gamma(2.0, 1.5, size=2), rng.dirichlet(np.ones(2))
    return MixtureOf((Poisson(rates[0]), Poisson(rates[1])), w), w @ stats.poisson.pmf(d, rates[:, None])


FAMILIES = ["poisson", "categorical", "exponential", "gaussian", "mixture"]


def random_model(seed, follows_itself=False):
    """A model of symbols, its parts as arrays, and a sequence."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 5))
    T = int(rng.integers(1, {2: 9, 3: 8, 4: 6}[K]))
    D = int([max(T - 2, 1), T, T + 2][seed % 3])
    family = FAMILIES[seed % len(FAMILIES)]
    parts, weights = zip(*(random_durations(rng, family, D) for _ in range(K)), strict=True)
    A = rng.dirichlet(np.ones(K), size=K)
    if not follows_itself:
        A *= 1 - np.eye(K)
    A /= A.sum(axis=1, keepdims=True)
    start, B = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(3), size=K)
    if seed % 4 == 0:
        start[0], start[1] = 0.0, start[0] + start[1]
        B[-1] = [0.0, 0.5, 0.5]
    model = made(start, A, parts, B, D)
    X = rng.integers(0, 3, size=(T, 1))
    return model, (start, A, np.array([cut_durations(w) for w in weights]), B), X


def made(start, A, parts, B, D):
    model = HiddenMarkovModel(len(start), Categorical(), duration=Poisson(), max_duration=D)
    model.startprob_, model.transmat_, model.durations_ = start, A, list(parts)
    model.emissions_ = [Categorical(row) for row in B]
    return model


def check_against_enumeration(model, arrays, X):
    start, A, p, B = arrays
    b = B[:, X[:, 0]].T
    joint = all_paths(start, A, p, b)
    if not joint:
        with pytest.warns(RuntimeWarning, match="impossible"):
            assert model.score(X) == -np.inf
        with pytest.raises(ValueError, match="impossible"):
            model.decode(X)
        return
    total = sum(joint.values())
    assert model.score(X) == pytest.approx(np.log(total), abs=1e-10)
    posterior = np.zeros(b.shape)
    for path, q in joint.items():
        posterior[np.arange(len(X)), path] += q / total
    np.testing.assert_allclose(model.predict_proba(X), posterior, atol=1e-10)
    ranked = sorted(joint.values(), reverse=True)
    log_prob, path = model.decode(X)
    assert log_prob == pytest.approx(np.log(ranked[0]), abs=1e-10)
    assert joint[tuple(path.tolist())] == pytest.approx(ranked[0], rel=1e-10)
    for n in (3, len(joint) + 2):
        (logs,), (paths,) = model.decode(X, n_best=n)
        assert len({tuple(row) for row in paths.tolist()}) == len(paths) == min(n, len(joint))
        np.testing.assert_allclose(logs, np.log(ranked[:n]), atol=1e-10)
        own = [joint[tuple(row)] for row in paths.tolist()]
        np.testing.assert_allclose(logs, np.log(own), atol=1e-10)
    assert special.logsumexp(logs) == pytest.approx(model.score(X), abs=1e-10)
    map_log, map_path = model.decode(X, algorithm="map")
    np.testing.assert_allclose(posterior[np.arange(len(X)), map_path], posterior.max(axis=1), atol=1e-10)
    expected = joint.get(tuple(map_path.tolist()), 0.0)
    assert map_log == (pytest.approx(np.log(expected), abs=1e-10) if expected else -np.inf)


@beyond
@pytest.mark.parametrize("seed", range(60))
def test_score_posterior_and_paths_are_those_of_an_enumeration(seed):
    check_against_enumeration(*random_model(seed))


@beyond
@pytest.mark.parametrize("seed", range(60, 75))
def test_a_state_that_may_follow_itself_sums_over_the_cuts_of_a_path(seed):
    check_against_enumeration(*random_model(seed, follows_itself=True))


@beyond
def test_several_sequences_are_decoded_each_by_itself():
    model, _, _ = random_model(3)
    rng = np.random.default_rng(0)
    X, lengths = rng.integers(0, 3, size=(15, 1)), [4, 1, 10]
    parts = np.split(X, np.cumsum(lengths)[:-1])
    for algorithm in ("viterbi", "map"):
        each = [model.decode(part, algorithm=algorithm) for part in parts]
        log_prob, path = model.decode(X, lengths, algorithm)
        assert log_prob == pytest.approx(sum(log for log, _ in each))
        np.testing.assert_array_equal(path, np.concatenate([own for _, own in each]))
    logs, paths = model.decode(X, lengths, n_best=2)
    assert [row.shape for row in paths] == [(2, 4), (2, 1), (2, 10)]
    assert [row[0] for row in logs] == pytest.approx([model.decode(part)[0] for part in parts])


@beyond
def test_a_sequence_that_cannot_be_is_named():
    model, _, _ = random_model(1)
    model.emissions_ = [Categorical([0.5, 0.5, 0.0])] * model.n_components
    X = np.array([[0], [1], [0], [2]])
    with pytest.raises(ValueError, match=r"sequence 1 is impossible.* step 1"):
        model.decode(X, [2, 2])
    logs, paths = model.decode(X, [2, 2], n_best=2)
    assert len(logs[1]) == len(paths[1]) == 0


# a distribution that is cut is a distribution


@beyond
@pytest.mark.parametrize("part", [Poisson(3.0), Poisson(20.0), Exponential(0.1), Gaussian(9.0, 4.0), Poisson(1e9)])
@pytest.mark.parametrize("T", [1, 3, 7])
def test_the_probabilities_of_all_sequences_sum_to_one(part, T):
    A = np.array([[0.0, 0.3, 0.7], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])
    B = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    model = made(np.array([0.2, 0.3, 0.5]), A, [part] * 3, B, 5)
    every = np.array(list(itertools.product(range(2), repeat=T)))
    logs = model.score_sequences(every.reshape(-1, 1), [T] * len(every))
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)


@beyond
@pytest.mark.parametrize("rate", [3.0, 20.0, 1e-3])
def test_expected_durations_are_those_of_samples_and_of_scipy(rate):
    D = 5
    p = cut_durations(stats.poisson.pmf(np.arange(D), rate))
    model = made([0.5, 0.5], np.array([[0.0, 1.0], [1.0, 0.0]]), [Poisson(rate)] * 2, np.full((2, 2), 0.5), D)
    mean = p @ np.arange(1, D + 1)
    np.testing.assert_allclose(model.expected_durations(), mean)
    _, path = model.sample(20_000, random_state=0)
    runs = np.diff(np.flatnonzero(np.diff(path, prepend=-1)))
    assert runs.mean() == pytest.approx(mean, rel=0.02)
    np.testing.assert_allclose(np.bincount(runs, minlength=D + 1)[1:] / len(runs), p, atol=0.02)


def test_rates_beyond_all_rounding_are_cut_exactly():
    np.testing.assert_allclose(np.exp(log_durations(Poisson(1e15), 3)), [2e-30, 2e-15, 1.0], rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_durations(Poisson(0.0), 3)), [1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="no probability to any duration from 1 to max_duration=2"):
        log_durations(Categorical([0.0, 0.0, 1.0]), 2)


@beyond
def test_a_sample_may_begin_in_a_given_state_for_a_whole_duration():
    model = made([1.0, 0.0], np.array([[0.0, 1.0], [1.0, 0.0]]), [Poisson(0.0), Poisson(4.0)], np.full((2, 2), 0.5), 9)
    rng = np.random.RandomState(0)
    drawn = [model.sample(9, random_state=rng, currstate=1)[1] for _ in range(500)]
    first = np.array([np.argmin(path == 1) if (path != 1).any() else 9 for path in drawn])
    p = cut_durations(stats.poisson.pmf(np.arange(9), 4.0))
    assert first.mean() == pytest.approx(p @ np.arange(1, 10), rel=0.06)


# as rows come in


@beyond
def test_filter_stream_and_forecast_are_those_of_an_enumeration():
    model, (start, A, p, B), _ = random_model(10)
    K = len(start)
    X = np.array([[0], [2], [1]])
    ahead = 2
    joint = all_paths(start, A, p, np.vstack([B[:, X[:, 0]].T, np.ones((ahead, K))]))
    total, expected = sum(joint.values()), np.zeros((ahead, K))
    for path, q in joint.items():
        expected[np.arange(ahead), path[len(X) :]] += q / total
    found = model.predict_next(X, ahead)
    np.testing.assert_allclose(found.state, expected, atol=1e-12)
    np.testing.assert_allclose(found.mean, expected @ B @ np.arange(3)[:, None])
    np.testing.assert_allclose(np.exp(found.log_prob([[2]])), expected @ B[:, 2])
    stream = model.stream()
    assert stream.belief.shape == (K,)
    for row, belief in zip(X, model.filter(X), strict=True):
        np.testing.assert_allclose(stream.push(row), belief, atol=1e-12)
    np.testing.assert_allclose(stream.predict_next(ahead).state, expected, atol=1e-12)
    lagged = model.stream(lag=1)
    outcomes = [lagged.push(row) for row in X]
    np.testing.assert_allclose(outcomes[1:], model.fixed_lag(X, lag=1)[:-1], atol=1e-12)


@beyond
def test_the_long_run_is_the_share_of_time_in_each_state():
    model, (_, A, p, _), _ = random_model(12)
    w, v = np.linalg.eig(A.T)
    visits = np.real(v[:, np.argmax(np.real(w))])
    time = visits * (p @ np.arange(1, p.shape[1] + 1))
    np.testing.assert_allclose(model.get_stationary_distribution(), time / time.sum(), atol=1e-10)


# learning


COUNTS = [[5.0, 3.0, 2.0, 1.0, 0.5], [0.1, 0.4, 2.0, 5.0, 9.0], [1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 0.0, 3.0, 0.0]]


@pytest.mark.parametrize("counts", COUNTS)
def test_a_cut_poisson_is_fitted_by_maximum_likelihood(counts):
    counts, d = np.array(counts), np.arange(5)

    def loss(log_rate):
        return -counts @ (shape := stats.poisson.logpmf(d, np.exp(log_rate))) + counts.sum() * special.logsumexp(shape)

    best = optimize.minimize_scalar(loss, bounds=(-8, 8), method="bounded", options={"xatol": 1e-11})
    for old in (0.01, 2.0, 300.0):
        rate = fitted(Poisson(old), counts).rate[0]
        assert np.log(rate) == pytest.approx(best.x, abs=1e-5)
    # the mean of the cut distribution is that of the counts: what a maximum in an exponential family means
    p = cut_durations(stats.poisson.pmf(d, rate))
    assert p @ d == pytest.approx(counts @ d / counts.sum(), abs=1e-7)


@pytest.mark.parametrize("counts", COUNTS)
def test_a_cut_gaussian_has_the_moments_of_the_counts(counts):
    counts, d = np.array(counts), np.arange(5)
    part = fitted(Gaussian(2.0, 4.0), counts)
    p = np.exp(log_durations(part, 5))
    mean = counts @ d / counts.sum()
    if counts[0] != 1.0:  # even counts are the limit of a variance without bound
        assert p @ d == pytest.approx(mean, abs=1e-5)
        assert p @ (d - mean) ** 2 == pytest.approx(counts @ (d - mean) ** 2 / counts.sum(), abs=1e-5)
    else:
        np.testing.assert_allclose(p, 0.2, atol=1e-4)


def test_a_cut_exponential_is_a_cut_geometric():
    counts = np.array([5.0, 3.0, 2.0, 1.0, 0.5])
    p = np.exp(log_durations(fitted(Exponential(1.0), counts), 5))
    assert p @ np.arange(5) == pytest.approx(counts @ np.arange(5) / counts.sum(), abs=1e-7)
    np.testing.assert_allclose(p[1:] / p[:-1], p[1] / p[0])


def test_durations_all_at_the_limit_stay_finite():
    part = fitted(Poisson(2.0), np.array([0.0, 0.0, 0.0, 7.0]))
    assert np.isfinite(part.rate).all()
    assert np.exp(log_durations(part, 4))[-1] == pytest.approx(1.0, abs=1e-8)
    assert fitted(Poisson(2.0), np.array([7.0, 0.0, 0.0])).rate[0] == 0.0


def test_categories_are_fitted_by_shares_within_the_limit():
    counts = np.array([1.0, 0.0, 3.0])
    for old in (Categorical(np.full(3, 1 / 3)), Categorical(np.full(9, 1 / 9))):
        np.testing.assert_allclose(fitted(old, counts).probabilities, [0.25, 0.0, 0.75])
    short = fitted(Categorical([0.5, 0.5]), np.array([1.0, 4.0, 0.0]))
    np.testing.assert_allclose(short.probabilities, [0.2, 0.8])
    assert fitted(Bernoulli(0.5), np.array([1.0, 4.0, 0.0])).probabilities[0] == pytest.approx(0.8)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize(
    "old",
    [
        Poisson(6.0),
        Gaussian(1.0, 2.0),
        Exponential(0.3),
        MixtureOf((Poisson(1.0), Poisson(8.0)), [0.5, 0.5]),
        MixtureDistribution([0.5, 0.5], [Poisson(1.0), Poisson(8.0)]),
    ],
)
def test_an_update_of_the_durations_never_makes_them_less_probable(old, counts):
    counts, before = np.array(counts), -np.inf
    for _ in range(4):
        now = counts @ log_durations(old, 5)
        assert now >= before - 1e-9
        before, old = now, fitted(old, counts)
    assert counts @ log_durations(old, 5) >= before - 1e-9


def drawn_states(rng, rates, n):
    """States in turns, for one step and a Poisson number of further ones."""
    states = []
    while len(states) < n:
        k = 1 - states[-1] if states else 0
        states += [k] * (1 + rng.poisson(rates[k]))
    return np.array(states[:n])


@beyond
@pytest.mark.parametrize("part", [Poisson(), Categorical(), Exponential(), Gaussian(), Bernoulli()])
@pytest.mark.parametrize("cap", [2, 5])
def test_the_objective_never_falls_under_a_limit_that_binds(part, cap):
    rng = np.random.default_rng(0)
    states = drawn_states(rng, [2, 6], 150)
    X = 3.0 * states[:, None] + rng.standard_normal((150, 1))
    model = HiddenMarkovModel(
        2, Gaussian(kind="diag"), duration=part, max_duration=cap, random_state=0, n_iter=15, tol=-1.0
    ).fit(X)
    assert (np.diff(model.history_) > -1e-9 * np.abs(model.history_[1:])).all()
    assert model.history_[-1] == pytest.approx(model.score(X), rel=1e-3)
    assert (model.expected_durations() <= cap).all()
    assert np.isfinite(model.expected_durations()).all()


def test_a_fit_under_a_limit_is_at_a_maximum():
    """No small change of a rate makes the sequences more probable."""
    rng = np.random.default_rng(1)
    runs = [
        np.repeat(k % 2, rng.choice(4, p=cut_durations(stats.poisson.pmf(np.arange(4), 1.5))) + 1) for k in range(150)
    ]
    states = np.concatenate(runs)
    X = np.where(rng.uniform(size=len(states)) < 0.95, states, 1 - states)[:, None]
    model = HiddenMarkovModel(
        2, Categorical(), duration=Poisson(1.0), max_duration=4, random_state=0, tol=1e-9, n_iter=2000
    )
    with pytest.warns(UserWarning, match="durations are cut at max_duration=4"):
        model.fit(X)
    assert model.converged_
    rates, top = [part.rate[0] for part in model.durations_], model.score(X)
    np.testing.assert_allclose(model.expected_durations(), np.mean([len(run) for run in runs]), atol=0.25)
    for k, factor in itertools.product(range(2), (0.98, 1.02)):
        moved = list(rates)
        moved[k] *= factor
        model.durations_ = [Poisson(rate) for rate in moved]
        with pytest.warns(UserWarning, match="durations are cut"):
            assert model.score(X) < top


@beyond
def test_known_states_are_counted_as_stays():
    """Where every state is known, transitions are shares of the changes, and durations fit the stays; the first too."""
    states = np.array([2, 2, 2, 0, 0, 1, 1, 1, 2, 0, 0, 1, 2, 2, 1, 0, 0, 0, 0, 1])
    begins = np.append(0, np.flatnonzero(np.diff(states)) + 1)
    kinds, sizes = states[begins], np.diff(np.append(begins, len(states)))
    X = np.eye(3)[states] @ [0.0, 5.0, 10.0] + 0.1 * np.sin(np.arange(20))
    model = HiddenMarkovModel(3, duration=Categorical(), max_duration=4, random_state=0, n_iter=200, tol=1e-10)
    model.fit(X[:, None], labels=states)
    moves = np.zeros((3, 3))
    np.add.at(moves, (kinds[:-1], kinds[1:]), 1)
    np.testing.assert_allclose(model.transmat_, moves / moves.sum(axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_allclose(model.startprob_, [0, 0, 1], atol=1e-9)
    for k in (0, 2):  # the last stay is of state 1, and may go on
        shares = np.bincount(sizes[kinds == k] - 1, minlength=4) / (kinds == k).sum()
        np.testing.assert_allclose(model.durations_[k].probabilities, shares, atol=1e-6)


# warnings


def test_a_limit_that_binds_is_told_at_a_fit():
    rng = np.random.default_rng(2)
    states = drawn_states(rng, [8, 8], 300)
    X = 6.0 * states[:, None] + rng.standard_normal((300, 1))
    with pytest.warns(UserWarning, match=r"max_duration=4: without it, .*Give a larger") as caught:
        model = HiddenMarkovModel(2, duration=Poisson(), max_duration=4, random_state=0, n_iter=20).fit(X)
    for k, part in enumerate(model.durations_):
        assert f"{stats.poisson.sf(2, part.rate[0]):.0%} of those of state {k}" in str(caught[0].message)
    HiddenMarkovModel(2, duration=Poisson(), max_duration=30, random_state=0, n_iter=20).fit(X)
    with pytest.warns(UserWarning, match="max_duration=7"):
        HiddenMarkovModel(2, duration=Categorical(), max_duration=7, random_state=0, n_iter=20).fit(X)


def test_assigned_durations_that_reach_beyond_the_limit_are_told():
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    model = made([0.5, 0.5], A, [Poisson(1.0), Poisson(20.0)], np.full((2, 2), 0.5), 5)
    for ask in (model.expected_durations, model.sample, lambda: model.score([[0], [1]])):
        with pytest.warns(UserWarning, match=r"100% of those of state 1 would be 6 steps or longer.*\(36, say\)"):
            ask()
    inside = made([0.5, 0.5], A, [Poisson(1.0), Categorical(np.full(5, 0.2))], np.full((2, 2), 0.5), 5)
    inside.expected_durations()


@beyond
def test_what_cannot_be_is_refused():
    X = np.arange(20.0)[:, None]
    for wrong in (0, -3, 2.5):
        with pytest.raises(ValueError, match="max_duration must be a whole number"):
            HiddenMarkovModel(2, duration=Poisson(), max_duration=wrong).fit(X)
    with pytest.raises(TypeError, match="duration must be a distribution"):
        HiddenMarkovModel(2, duration="poisson").fit(X)
    with pytest.raises(ValueError, match="duration lists 1 distributions for 2 states"):
        HiddenMarkovModel(2, duration=[Poisson()]).fit(X)
    with pytest.raises(ValueError, match="row 1 of transmat lets state 1 be followed by itself"):
        HiddenMarkovModel(2, duration=Poisson(), transmat=[[np.nan, np.nan], [np.nan, 0.9]]).fit(X)
    model, _, _ = random_model(4)
    model.durations_ = model.durations_[:1]
    with pytest.raises(ValueError, match="durations_ must be"):
        model.score([[0]])
    model, _, _ = random_model(65, follows_itself=True)
    with pytest.raises(ValueError, match="row 0 of transmat_ lets state 0 be followed by itself"):
        model.set_params(init_params="").fit(np.tile([[0], [1], [2]], (10, 1)))
    for ask in (model.standard_errors, model.fisher_scores):
        with pytest.raises(ValueError, match="not for states with durations"):
            ask([[0], [1]])


@beyond
def test_durations_that_are_not_learnt_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40, 1))
    counted = []
    for params in ("sted", "ste"):
        model = HiddenMarkovModel(
            2,
            Categorical(),
            duration=Categorical(np.full(9, 1 / 9)),
            max_duration=4,
            params=params,
            n_iter=2,
            random_state=0,
        )
        counted.append(model.fit(X).n_parameters_)
    assert counted == [1 + 0 + 2 + 2 * 3, 1 + 0 + 2]


@beyond
@pytest.mark.parametrize("D", [1, 4])
def test_a_single_state_has_one_path(D):
    model = made(np.ones(1), np.ones((1, 1)), [Poisson(2.0)], np.array([[0.3, 0.7]]), D)
    X = np.array([[0], [1], [1], [0], [1], [1]])
    expected = np.log([0.3, 0.7]) @ [2, 4]
    assert model.score(X) == pytest.approx(expected)
    (logs,), (paths,) = model.decode(X, n_best=3)
    assert logs == pytest.approx([expected])
    np.testing.assert_array_equal(paths, np.zeros((1, 6)))
