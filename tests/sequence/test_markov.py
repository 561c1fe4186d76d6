import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from latently.sequence import MarkovChain
from latently.sequence.passage import first_passage_times

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
    with pytest.raises(ValueError, match="more was taken away"):
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
