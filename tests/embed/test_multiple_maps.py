"""Several maps: the gradient, one map as t-SNE, and similarities that one map cannot show."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from latently.embed import TSNE, MultipleMapsTSNE
from latently.embed.multiple_maps.field import MapsField
from latently.embed.multiple_maps.multiple_maps import given_affinities


def test_the_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    field = MapsField(given_affinities(rng.uniform(size=(8, 8))), 3, 2)
    state = rng.normal(size=(8, 9))

    def cost(flat):
        return field.divergence(flat.reshape(8, 9), field.compute(flat.reshape(8, 9)))

    total = field.compute(state)
    found = field.factor * (field.attraction - field.repelled / total)
    np.testing.assert_allclose(found.ravel(), approx_fprime(state.ravel(), cost, 1e-6), atol=1e-6)


def test_one_map_is_tsne():
    X = np.random.default_rng(0).normal(size=(60, 4))
    start = 0.01 * np.random.default_rng(1).normal(size=(60, 2))
    settings = {"perplexity": 8, "max_iter": 25, "early_exaggeration": 4.0, "learning_rate": 20.0}
    several = MultipleMapsTSNE(1, init=start[None], **settings).fit(X)
    one = TSNE(init=start, **settings).fit(X)
    np.testing.assert_allclose(several.embeddings_[0], one.embedding_, rtol=1e-4, atol=1e-6)
    assert several.kl_divergence_ == pytest.approx(one.kl_divergence_, rel=1e-6)
    np.testing.assert_array_equal(several.weights_, 1.0)


def word_senses(n_topics=10, n_words=5, n_ambiguous=15, senses=3, seed=0):
    """Words of a topic are associated with each other; ambiguous ones (bank) with those of several topics."""
    rng = np.random.default_rng(seed)
    n = n_topics * n_words + n_ambiguous
    associated = np.zeros((n, n))
    for topic in range(n_topics):
        mine = slice(topic * n_words, (topic + 1) * n_words)
        associated[mine, mine] = 1.0
    for word in range(n_topics * n_words, n):
        for topic in rng.choice(n_topics, senses, replace=False):
            mine = slice(topic * n_words, (topic + 1) * n_words)
            associated[word, mine] = associated[mine, word] = 1.0
    np.fill_diagonal(associated, 0.0)
    return associated


def kept(associated, similar):
    """Share of the associated words that are among as many of the most similar in the maps."""
    counts = (associated > 0).sum(axis=1)
    order = np.argsort(-similar, axis=1)
    return np.mean([associated[i, order[i, :k]].mean() for i, k in enumerate(counts)])


def test_more_maps_keep_more_of_what_is_not_transitive():
    associated = word_senses()
    found = [
        MultipleMapsTSNE(m, affinity="precomputed", random_state=0, max_iter=700).fit(associated) for m in (1, 2, 4)
    ]
    shares = [kept(associated, model.similarities()) for model in found]
    assert shares[0] + 0.08 < shares[1]
    assert shares[1] < shares[2]
    costs = [model.kl_divergence_ for model in found]
    assert costs == sorted(costs, reverse=True)
    for model in found:
        np.testing.assert_allclose(model.weights_.sum(axis=1), 1.0)
        assert model.similarities().sum() == pytest.approx(1.0)


def test_a_word_of_two_senses_is_near_both_in_different_maps():
    bank, money, river = 0, [1, 2, 3], [4, 5, 6]
    associated = np.zeros((7, 7))
    for sense in (money, river):
        associated[np.ix_([bank, *sense], [bank, *sense])] = 1.0
    model = MultipleMapsTSNE(2, affinity="precomputed", random_state=0, max_iter=500).fit(associated)
    similar = model.similarities()
    assert similar[bank, money + river].min() > 5 * similar[np.ix_(money, river)].max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda A: A[:, :-1], "square"),
        (lambda A: A - 2.0, "negative"),
        (lambda A: A * (np.arange(len(A)) != 3)[:, None], "item 3 is similar to no other"),
    ],
)
def test_what_are_no_similarities_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        MultipleMapsTSNE(affinity="precomputed").fit(change(word_senses(3, 3, 2)))
