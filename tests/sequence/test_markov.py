import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from latently.sequence import MarkovChain
from latently.sequence.inference.chain import stationary
from latently.sequence.markov.long_run import first_passage_times

WEATHER = [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]
SYMBOLS = st.lists(st.integers(0, 2), min_size=1, max_size=12)


def test_rabiners_weather():
    chain = MarkovChain.from_probabilities([0, 0, 1], WEATHER)
    assert np.exp(chain.score([2, 2, 2, 0, 0, 2, 1, 2])) == pytest.approx(1.536e-4)
    np.testing.assert_allclose(chain.expected_durations(), [1.6667, 2.5, 5.0], atol=5e-5)


def test_land_of_oz():
    """Kemeny, Snell and Thompson's weather (rain, nice, snow); in Grinstead and Snell, section 11.5."""
    oz = MarkovChain.from_probabilities([1, 0, 0], [[0.5, 0.25, 0.25], [0.5, 0, 0.5], [0.25, 0.25, 0.5]])
    np.testing.assert_allclose(oz.stationary_distribution(), [0.4, 0.2, 0.4])
    expected = [[5 / 2, 4, 10 / 3], [8 / 3, 5, 8 / 3], [10 / 3, 4, 5 / 2]]
    np.testing.assert_allclose(oz.first_passage_times(), expected)


def test_a_visit_that_is_not_certain_takes_for_ever():
    times = first_passage_times(np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert np.isinf(times[0, 1])
    assert np.isinf(times[1, 0])
    assert times[1, 1] == 1.0
    assert np.isinf(times[0, 0])


def test_counts_are_shares():
    chain = MarkovChain().fit([0, 0, 1, 1, 1, 0, 0, 1])
    np.testing.assert_allclose(chain.transmat_, [[0.5, 0.5], [1 / 3, 2 / 3]])
    with_prior = MarkovChain(prior=1.0).fit([0, 0, 1, 1, 1, 0, 0, 1])
    np.testing.assert_allclose(with_prior.transmat_, [[3 / 6, 3 / 6], [2 / 5, 3 / 5]])


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("smoothing", [None, "interpolation", "backoff"])
@settings(max_examples=25, deadline=None)
@given(first=SYMBOLS, second=SYMBOLS)
def test_probabilities_are_probabilities_and_counts_add(order, smoothing, first, second):
    chain = MarkovChain(order, smoothing=smoothing, prior=0.1).fit([0, 1, 2, *first])
    for context in ((), (0,), (2, 1), (1, 1, 0, 2)):
        p = chain.predict_next(context)
        assert p.sum() == pytest.approx(1.0)
        assert (p >= 0).all()
    before = {c: row.copy() for c, row in chain.counts_.table.items()}
    both = MarkovChain(order, smoothing=smoothing, prior=0.1).fit(
        np.array([0, 1, 2, *first, *second]), [3 + len(first), len(second)]
    )
    chain.partial_fit(second)
    np.testing.assert_allclose(chain.predict_next((0, 1)), both.predict_next((0, 1)))
    chain.forget(second)
    assert before.keys() == chain.counts_.table.keys()
    for context, row in before.items():
        np.testing.assert_allclose(chain.counts_.table[context], row)


def test_merging_is_counting_together():
    a, b = MarkovChain(2).fit(list("abcab")), MarkovChain(2).fit(list("bdbd"))
    together = MarkovChain(2).fit([list("abcab"), list("bdbd")])
    a.merge(b)
    assert a.symbols_.tolist() == ["a", "b", "c", "d"]
    assert a.counts_.table.keys() == together.counts_.table.keys()
    for context, row in together.counts_.table.items():
        np.testing.assert_array_equal(a.counts_.table[context], row)


def test_the_total_probability_of_all_sequences_is_one():
    import itertools

    for smoothing in (None, "interpolation", "backoff"):
        chain = MarkovChain(2, smoothing=smoothing, prior=0.3).fit([0, 1, 1, 0, 2, 1, 0, 0])
        every = [list(s) for s in itertools.product(range(3), repeat=4)]
        assert np.exp(chain.score_sequences(every)).sum() == pytest.approx(1.0)


def test_a_missing_symbol_is_summed_over():
    chain = MarkovChain(2, prior=0.2).fit([0, 1, 1, 0, 2, 1, 0, 0])
    filled = [[0, a, b, 1] for a in range(3) for b in range(3)]
    expected = np.log(np.exp(chain.score_sequences(filled)).sum())
    assert chain.score([0, np.nan, np.nan, 1]) == pytest.approx(expected)


def test_windows_with_missing_symbols_are_not_counted():
    chain = MarkovChain().fit(["a", "b", None, "b", "a"])
    np.testing.assert_allclose(chain.counts_.table[(0,)], [0, 1])
    np.testing.assert_allclose(chain.counts_.table[(1,)], [1, 0])


def test_perplexity_of_a_fair_die_is_six():
    die = MarkovChain(0).fit([1, 2, 3, 4, 5, 6])
    assert die.perplexity([3, 3, 1, 6]) == pytest.approx(6.0)


def test_interpolation_by_hand():
    """Witten and Bell, p(b | a) = (n(ab) + T p(b)) / (N + T), with T = 1 kind seen after a."""
    chain = MarkovChain(1, smoothing="interpolation").fit(list("abab"))
    assert chain.predict_next("a")[1] == pytest.approx((2 + 1 * 0.5) / (2 + 1))


def test_interpolation_weighs_shorter_contexts_by_the_kinds_seen():
    """After a: b twice, c once, so two kinds; p(b) = 2/6 of all symbols, and so on."""
    chain = MarkovChain(1, smoothing="interpolation").fit(list("abacab"))
    shares = np.array([3, 2, 1]) / 6
    np.testing.assert_allclose(chain.predict_next("a"), (np.array([0, 2, 1]) + 2 * shares) / (3 + 2))


def test_back_off_by_hand():
    chain = MarkovChain(1, smoothing="backoff", discount=0.5).fit(list("abac"))
    # after a: b and c once each, less a half; a itself gets the half of each
    np.testing.assert_allclose(chain.predict_next("a"), [0.5, 0.25, 0.25])


def test_sampling_has_the_frequencies_of_the_chain():
    chain = MarkovChain.from_probabilities([0.2, 0.3, 0.5], WEATHER)
    again = MarkovChain().fit(chain.sample(20_000, random_state=0))
    np.testing.assert_allclose(again.transmat_, WEATHER, atol=0.02)


def test_the_long_run_of_a_longer_memory():
    chain = MarkovChain(2, prior=0.5).fit([0, 1, 1, 0, 0, 1, 0, 1, 1, 1])
    drawn = chain.sample(20_000, random_state=1)
    np.testing.assert_allclose(chain.stationary_distribution(), [(drawn == 0).mean(), (drawn == 1).mean()], atol=0.02)
    with pytest.raises(ValueError, match="order 2 has no matrix"):
        chain.expected_durations()


@pytest.mark.parametrize(
    ("settings_", "X", "message"),
    [
        ({"order": -1}, [0, 1], "order must be"),
        ({"smoothing": "some"}, [0, 1], "smoothing must be"),
        ({"prior": -1.0}, [0, 1], "prior must not be negative"),
        ({}, [np.nan], "every symbol .column 0 of X. is missing"),
        ({}, [], "empty"),
        ({}, np.zeros((5, 2)), "reads a single column of symbols"),
        ({}, np.array([1j, 2]), "Complex data not supported"),
        ({}, np.array([1.0, np.inf]), "column 0 of X holds inf"),
    ],
)
def test_bad_input(settings_, X, message):
    with pytest.raises(ValueError, match=message):
        MarkovChain(**settings_).fit(X)


def test_what_is_no_symbol_at_all():
    with pytest.raises(TypeError, match="must be a string or a number, not 'dict'"):
        MarkovChain().fit(np.array([1.0, {"a": 1}], dtype=object))
    with pytest.raises(TypeError, match="X is sparse"):
        MarkovChain().fit(sparse.csr_array(np.eye(3)))


def test_more_cannot_be_forgotten_than_was_learnt():
    with pytest.raises(ValueError, match="more was forgotten"):
        MarkovChain().fit([0, 1]).forget([0, 1, 0])
    with pytest.raises(ValueError, match="unknown to this chain"):
        MarkovChain().fit([0, 1]).forget([0, 5])
    with pytest.raises(ValueError, match="does not merge"):
        MarkovChain().fit([0, 1]).merge(MarkovChain(2).fit([0, 1]))
    with pytest.raises(ValueError, match="lengths sum to 3"):
        MarkovChain().fit([0, 1], [3])


def test_a_bare_string_is_refused():
    chain = MarkovChain().fit(["abracadabra"])
    with pytest.raises(TypeError, match="list of one"):
        chain.score("abracadabra")


# the long run, against closed forms


def random_chain_with_zeros(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 7))
    A = rng.dirichlet(np.ones(K), size=K) * (rng.uniform(size=(K, K)) < 0.5)
    A[A.sum(axis=1) == 0, 0] = 1.0
    return A / A.sum(axis=1, keepdims=True)


def limit_of_means(A):
    """Mean over time of where a chain is, from each state: Cesaro's limit, by squaring (A + I) / 2."""
    M = (A + np.eye(len(A))) / 2
    for _ in range(200):
        M = M @ M
        M /= M.sum(axis=1, keepdims=True)
    return M


@pytest.mark.parametrize("seed", range(40))
def test_the_stationary_distribution_is_the_mean_over_time_from_everywhere(seed):
    """Chains with zeros: periodic ones, ones with states that are left for good, ones that never mix."""
    A = random_chain_with_zeros(seed)
    limit = limit_of_means(A)
    if np.ptp(limit, axis=0).max() > 1e-6:
        with pytest.raises(ValueError, match="several closed classes"):
            stationary(A)
    else:
        np.testing.assert_allclose(stationary(A), limit[0], atol=1e-12)
        assert (stationary(A)[limit[0] < 1e-30] == 0).all()


def test_a_cycle_and_an_absorbing_chain_have_a_long_run():
    np.testing.assert_allclose(stationary(np.roll(np.eye(4), 1, axis=1)), 0.25)
    np.testing.assert_array_equal(stationary(np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0, 0, 1.0]])), [0, 0, 1])


@pytest.mark.parametrize("rare", [1e-9, 1e-13, 1e-18, 1e-150])
def test_rare_transitions_keep_all_digits(rare):
    """Two states: shares are as the rates of coming, durations one over the rates of going."""
    A = np.array([[1 - 3 * rare, 3 * rare], [rare, 1 - rare]])
    np.testing.assert_allclose(stationary(A), [0.25, 0.75], rtol=1e-14)
    chain = MarkovChain.from_probabilities([1, 0], A)
    np.testing.assert_allclose(chain.expected_durations(), [1 / (3 * rare), 1 / rare], rtol=1e-14)
    passages = [[4, 1 / (3 * rare)], [1 / rare, 4 / 3]]  # returns take one over the share
    np.testing.assert_allclose(chain.first_passage_times(), passages, rtol=1e-14)
    # two states that are quick with each other, and a third to which one of them leads, rarely
    A = np.array([[0.5, 0.5, 0.0], [0.5, 0.5 - rare, rare], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(first_passage_times(A)[:2, 2], [2 + 2 / rare, 2 / rare], rtol=1e-14)


def test_shares_of_a_walk_that_drifts_are_a_geometric_row():
    """Birth and death: pi_k is proportional to (up / down)^k, here over hundreds of powers of ten."""
    K, up, down = 60, 1e-9, 0.5
    A = np.diag(np.full(K - 1, up), 1) + np.diag(np.full(K - 1, down), -1)
    A += np.diag(1 - A.sum(axis=1))
    shares = stationary(A)
    np.testing.assert_allclose(shares[1:31] / shares[:30], up / down, rtol=1e-12)
    assert np.isfinite(shares).all()


@pytest.mark.parametrize("seed", range(30))
def test_first_passages_are_those_of_the_absorbing_chain(seed):
    """Chance and time of absorption in the target, by powers of the chain that stops there."""
    A = random_chain_with_zeros(seed)
    K, times = len(A), first_passage_times(A)
    for target in range(K):
        Q = A.copy()
        Q[:, target] = 0.0  # the paths that have not been there
        steps = np.eye(K)  # I + Q + Q^2 + ...
        for _ in range(30):
            steps, Q = steps + Q @ steps, Q @ Q
        expected, alive, found = steps.sum(axis=1), Q.sum(axis=1), times[:, target]
        assert np.array_equal(np.isinf(found), alive > 1e-6)
        np.testing.assert_allclose(found[alive <= 1e-6], expected[alive <= 1e-6], rtol=1e-8)


def test_gamblers_ruin():
    """A fair game with N coins ends after k (N - k) rounds: Feller, chapter XIV."""
    N = 6
    A = 0.5 * (np.eye(N + 1, k=1) + np.eye(N + 1, k=-1))
    A[0], A[N] = np.eye(N + 1)[0], np.eye(N + 1)[N]
    assert np.isinf(first_passage_times(A)[1:N, [0, N]]).all()  # neither end is certain
    both = np.vstack([A[:N], np.eye(N + 1)[0]])
    both[:, 0] += both[:, N]  # both ends are one state
    ring = both[:N, :N]
    ring[0] = np.eye(N)[0]
    np.testing.assert_allclose(first_passage_times(ring)[1:, 0], [k * (N - k) for k in range(1, N)])


# missing and unknown symbols


@pytest.mark.parametrize("settings_", [{}, {"prior": 0.5}, {"smoothing": "interpolation"}])
def test_what_follows_a_missing_symbol_is_summed_over(settings_):
    chain = MarkovChain(**settings_).fit(list("aabcacbbaabcc"))
    A, start = chain.transmat_, chain.startprob_
    np.testing.assert_allclose(chain.predict_next(["a", None]), A[0] @ A)
    np.testing.assert_allclose(chain.predict_next(["b", None, None]), A[1] @ A @ A)
    np.testing.assert_allclose(chain.predict_next([None]), start @ A)
    np.testing.assert_allclose(chain.predict_next([None, "c"]), A[2])
    long = MarkovChain(2, **settings_).fit(list("aabcacbbaabcc"))
    first = long.predict_next("ab")
    expected = sum(p * long.predict_next(["b", s]) for p, s in zip(first, "abc", strict=True))
    np.testing.assert_allclose(long.predict_next(["a", "b", None]), expected)


def test_nothing_follows_what_cannot_be():
    chain = MarkovChain(2).fit([[0, 1, 0, 1], [0, 1, 1, 1, 1]])
    with pytest.raises(ValueError, match="impossible under the chain"):
        chain.predict_next([np.nan, 0, np.nan, 0, np.nan, 0, 0, np.nan][:3])
    assert chain.predict_next([1, 1, np.nan]).sum() == pytest.approx(1.0)  # never seen as a beginning


def test_symbols_that_are_missing_or_unknown_do_not_count():
    chain = MarkovChain(prior=1.0).fit(list("abab"))
    for odd in (None, "z"):
        X = ["a", odd, "b", odd]
        assert chain.perplexity(X) == pytest.approx(np.exp(-chain.score(X) / 2))
        assert chain.bic(X) == pytest.approx(-2 * chain.score(X) + chain.n_parameters_ * np.log(2))
