"""t-SNE and SNE as estimators: beside scikit-learn's, on bad input, and for new rows."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph

import latently
from latently.embed import SNE, TSNE

DIGITS, LABELS = load_digits(return_X_y=True)
SOME, SOME_LABELS = DIGITS[:300], LABELS[:300]


# scikit-learn 1.9.1: KL divergence of manifold.TSNE(random_state=0, init=init) on iris, over all pairs
PEER = {"pca": 0.12444668, "random": 0.12534194, "spectral": 0.12444668}


@pytest.mark.parametrize("init", PEER)
def test_the_divergence_is_that_of_scikit_learn(init):
    X = load_iris().data
    found = TSNE(random_state=0, init=init).fit(X)
    assert found.kl_divergence_ < 1.04 * PEER[init]
    assert trustworthiness(X, found.embedding_) > 0.985
    assert found.learning_rate_ == 50.0
    assert found.embedding_.dtype == np.float32


def best_of_three_starts(method):
    fits = [TSNE(random_state=seed, init="random", max_iter=500, method=method).fit(SOME) for seed in range(3)]
    return min(fit.kl_divergence_ for fit in fits)  # a single one may end in a local optimum


def test_pairs_and_the_grid_end_at_the_same_divergence():
    assert best_of_three_starts("fft") == pytest.approx(best_of_three_starts("barnes_hut"), rel=0.12)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("method", ["barnes_hut", "fft"])
def test_maps_of_one_and_three_columns(d, method):
    found = TSNE(d, perplexity=10, random_state=0, method=method, max_iter=400 if d == 1 else 270).fit(SOME[:150])
    assert found.embedding_.shape == (150, d)
    assert trustworthiness(SOME[:150], found.embedding_) > (0.8 if d == 1 else 0.95)


def test_four_columns_need_all_pairs():
    with pytest.raises(ValueError, match="method='exact'"):
        TSNE(4).fit(SOME)
    assert TSNE(4, method="exact", perplexity=5, max_iter=260).fit_transform(SOME[:40]).shape == (40, 4)


def test_new_rows_stand_with_their_class_and_rows_of_the_fit_at_their_place():
    model = TSNE(random_state=0, max_iter=500).fit(SOME)
    np.testing.assert_array_equal(model.transform(SOME[:20]), model.embedding_[:20])
    new = DIGITS[300:400]
    placed = model.transform(new)
    nearest = KNeighborsClassifier(5).fit(model.embedding_, SOME_LABELS)
    assert nearest.score(placed, LABELS[300:400]) > 0.9
    np.testing.assert_allclose(model.transform(new[:7]), placed[:7], rtol=1e-4, atol=1e-4)


def test_new_rows_in_a_large_map_are_placed_by_the_grid():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3200, 3)) + 8 * np.eye(3)[np.arange(3200) % 3]
    model = TSNE(random_state=0, max_iter=40, perplexity=5).fit(X)
    placed = model.transform(X[:30] + 0.01)
    gaps = np.sqrt(((placed - model.embedding_[:30]) ** 2).sum(axis=1))
    assert np.median(gaps) < 0.05 * np.ptp(model.embedding_)


def test_given_distances_and_their_sparse_graph():
    D = np.sqrt(((SOME[:80, None] - SOME[None, :80]) ** 2).sum(axis=2))
    settings = {"metric": "precomputed", "init": "random", "perplexity": 5, "random_state": 0, "max_iter": 300}
    dense = TSNE(**settings).fit(D)
    rows = TSNE(**{**settings, "metric": "euclidean"}).fit(SOME[:80])
    graph = TSNE(**settings).fit(kneighbors_graph(SOME[:80], 20, mode="distance"))
    assert dense.kl_divergence_ == pytest.approx(rows.kl_divergence_, rel=0.1)
    assert trustworthiness(SOME[:80], graph.embedding_) > 0.95
    np.testing.assert_array_equal(dense.transform(D[:3]), dense.embedding_[:3])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda D: D + np.triu(np.ones_like(D), 1), "symmetric"),
        (lambda D: -D, "positive distances"),
        (lambda D: D[:, :-1], "square"),
        (lambda D: np.where(D.max() == D, np.nan, D), "NaN"),
    ],
)
def test_what_are_no_distances_is_refused(make, message):
    D = np.sqrt(((SOME[:30, None] - SOME[None, :30]) ** 2).sum(axis=2))
    with pytest.raises(ValueError, match=message):
        TSNE(metric="precomputed", init="random", perplexity=5).fit(make(D))


def test_missing_values_are_refused_with_a_name_of_what_takes_them():
    X = SOME.copy()
    X[3, 2] = np.nan
    for model in (TSNE(), SNE()):
        with pytest.raises(ValueError, match=r"latently\.impute\.Imputer.*latently\.factor\.PCA"):
            model.fit(X)


@pytest.mark.parametrize("model", [TSNE, SNE])
def test_a_perplexity_that_is_too_large(model):
    with pytest.raises(ValueError, match=r"perplexity \(40\) must be less than n_samples \(40\)"):
        model(perplexity=40).fit(SOME[:40])
    with pytest.warns(UserWarning, match="above a third of the 40 rows"):
        model(perplexity=20, max_iter=10).fit(SOME[:40])


@pytest.mark.parametrize("change", [lambda X: X + 1e8, lambda X: 1e-12 * X, lambda X: 1e140 * X])
def test_offsets_and_scales_of_the_rows_do_not_matter(change):
    X = np.random.default_rng(0).integers(0, 50, size=(60, 4)).astype(float)
    settings = {"perplexity": 8, "random_state": 0, "max_iter": 260, "init": "random"}
    np.testing.assert_allclose(
        TSNE(**settings).fit(change(X)).kl_divergence_, TSNE(**settings).fit(X).kl_divergence_, rtol=0.2
    )


def test_duplicates_constants_and_one_row():
    model = TSNE(perplexity=4, random_state=0, max_iter=300).fit(np.repeat(SOME[:10], 6, axis=0))
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.kl_divergence_)
    assert np.isfinite(TSNE(perplexity=4, max_iter=260).fit(np.ones((20, 3))).embedding_).all()
    with pytest.raises(ValueError, match="at least 2|minimum of 2"):
        TSNE().fit(SOME[:1])


def test_a_hook_sees_every_iteration_and_ends_the_fit():
    seen = []

    def stop(step):
        seen.append(step)
        return step.iteration == 7

    model = TSNE(perplexity=5, random_state=0).fit(SOME[:40], on_iteration=stop)
    assert [step.iteration for step in seen] == list(range(1, 8))
    assert model.n_iter_ == 6
    assert seen[0].exaggeration == 12.0
    assert np.isfinite(model.kl_divergence_)
    # forces balance: attraction sums to zero over all points, and so does repulsion
    np.testing.assert_allclose(seen[3].attraction.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(seen[3].repulsion.sum(axis=0), 0.0, atol=1e-12)


def test_several_perplexities():
    model = TSNE(perplexity=[5, 20], random_state=0, max_iter=400).fit(SOME[:150])
    assert trustworthiness(SOME[:150], model.embedding_) > 0.97


def test_saved_and_loaded_maps_place_new_rows_alike(tmp_path):
    model = TSNE(perplexity=5, random_state=0, max_iter=260).fit(SOME[:60])
    latently.save(model, tmp_path / "map")
    again = latently.load(tmp_path / "map")
    np.testing.assert_array_equal(again.transform(SOME[60:70]), model.transform(SOME[60:70]))


@pytest.mark.parametrize("symmetric", [False, True])
def test_sne_keeps_neighbours_and_lowers_its_divergence(symmetric):
    X = SOME[:120]
    short = SNE(perplexity=10, symmetric=symmetric, random_state=0, max_iter=255).fit(X)
    long = SNE(perplexity=10, symmetric=symmetric, random_state=0, max_iter=500).fit(X)
    assert long.kl_divergence_ < short.kl_divergence_
    assert trustworthiness(X, long.embedding_) > 0.95
    assert long.transform(SOME[120:125]).shape == (5, 2)


def test_verbose_fits_say_what_they_do(capsys):
    TSNE(perplexity=5, verbose=2, random_state=0, max_iter=300).fit(SOME[:40])
    said = capsys.readouterr().out
    assert "[t-SNE] Computing 16 nearest neighbors..." in said
    assert "Iteration 300: error = " in said


def test_sparse_rows_are_taken():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = TSNE(perplexity=5, random_state=0, max_iter=260).fit(sparse.csr_array(SOME[:40]))
    np.testing.assert_array_equal(
        found.embedding_, TSNE(perplexity=5, random_state=0, max_iter=260).fit(SOME[:40]).embedding_
    )
