"""What is wrong with the input is said, and in which item."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import latently
from latently.structure import (
    ChainModel,
    ConditionalRandomField,
    GraphModel,
    MulticlassModel,
    MultilabelModel,
    StructuredSVM,
    TokenFeatures,
    TreeModel,
)

RNG = np.random.default_rng(0)
X = [RNG.normal(size=(m, 2)) for m in (3, 2, 4)]
Y = [["a", "b", "a"], ["a", "b"], ["b", "b", "a", "a"]]


def svm(model, **options):
    return StructuredSVM(model, random_state=0, **options)


@pytest.mark.parametrize(
    ("items", "outputs", "message"),
    [
        (X, Y[:2], "X has 3 items, but y has 2"),
        (X, [Y[0], ["a"], Y[2]], "item 1 has 2 nodes in X, but 1 labels in y"),
        ([X[0], np.empty((0, 2)), X[2]], Y, "item 1 of X is empty"),
        ([X[0], sparse.csr_matrix((0, 2)), X[2]], Y, "item 1 of X is empty"),
        ([X[0], X[1], np.ones((4, 3))], Y, "item 2 of X has 3 features, but item 0 has 2"),
        ([X[0], np.full((2, 2), np.nan), X[2]], Y, "item 1 of X"),
        ([X[0], np.full((2, 2), np.inf), X[2]], Y, "item 1 of X"),
        ([], [], "0 sample"),
        (np.ones((9, 2)), Y, "give `lengths`"),
        (X, None, "requires y"),
        (X, [[None] * 3, [None] * 2, [None] * 4], "no label at all"),
        ([["a"], []], [["N"], []], "item 1 of X is empty"),
    ],
)
@pytest.mark.parametrize("kind", [StructuredSVM, ConditionalRandomField])
def test_items_and_outputs_that_do_not_fit_are_named(kind, items, outputs, message):
    with pytest.raises(ValueError, match=message):
        kind(ChainModel()).fit(items, outputs)


def test_lengths_must_add_up():
    rows, labels = np.vstack(X), np.concatenate(Y)
    for lengths, message in (
        ([3, 2], "lengths sum to 5, but X has 9"),
        ([3, 0, 6], "item 1 of X is empty"),
        (3.5, "whole"),
    ):
        with pytest.raises(ValueError, match=message):
            svm(ChainModel()).fit(rows, labels, lengths=lengths)
    with pytest.raises(ValueError, match="no lengths"):
        svm(MulticlassModel()).fit(rows, labels, lengths=[9])


def test_labels_that_were_not_there_are_named_with_their_item():
    model = svm(ChainModel()).fit(X, Y)
    with pytest.raises(ValueError, match="label 'z' of item 2 was not there at the fit"):
        model.score(X, [Y[0], Y[1], ["a", "z", "a", "a"]])
    with pytest.raises(ValueError, match="label 'z' of item 0"):
        model.partial_fit(X[:1], [["z", "a", "a"]])
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.predict([np.ones((2, 5))])
    with pytest.raises(ValueError, match="X has 3 items, but y has 1"):
        model.score(X, Y[:1])


def test_losses_and_constraints_that_make_no_sense_are_refused():
    for costs, message in (
        ([[0, -1], [1, 0]], "saying b where a is true is -1"),
        ([[0, 1], [1, 2]], "saying b where it is true is 2"),
        ([[0, 1, 1]], "shape"),
        ([[0, np.nan], [1, 0]], "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            svm(ChainModel(), loss=costs).fit(X, Y)
    with pytest.raises(ValueError, match="needs loss='hamming'"):
        svm(ChainModel(), loss=[[0, 2], [1, 0]], rescale="slack").fit(X, Y)
    with pytest.raises(ValueError, match="item 2 of y has the forbidden transition 'b' -> 'b'"):
        svm(ChainModel(forbidden=[("b", "b")])).fit(X, Y)
    with pytest.raises(ValueError, match="item 2 of y has the forbidden transition None -> 'b'"):
        svm(ChainModel(forbidden=[(None, "b")])).fit(X, Y)
    with pytest.raises(ValueError, match="names 'q'"):
        svm(ChainModel(forbidden=[("q", "b")])).fit(X, Y)
    with pytest.raises(ValueError, match="kernel='linear'"):
        svm(ChainModel(), kernel="rbf").partial_fit(X, Y)


def test_an_item_that_constraints_leave_without_an_output_is_named():
    model = svm(ChainModel(forbidden=[("a", "a"), ("b", "b"), ("b", "a")])).fit([X[1]], [["a", "b"]])
    with pytest.raises(ValueError, match="item 1 has no possible output"):
        model.predict([X[1], X[0]])


def test_trees_graphs_and_tables_are_checked():
    features = np.ones((3, 2))
    for parents, message in (
        ([-1, 0], "parents of shape"),
        ([-1, -1, 0], "one root"),
        ([1, 2, 0], "one root"),
        ([-1, 2, 1], "cycle"),
        ([-1, 0, 7], "parents from 0 to 2"),
    ):
        with pytest.raises(ValueError, match=f"item 0 of X.*{message}"):
            svm(TreeModel()).fit([(features, parents)], [["a", "b", "a"]])
    with pytest.raises(ValueError, match="item 0 of X must be a pair"):
        svm(TreeModel()).fit([features], [["a", "b", "a"]])
    with pytest.raises(ValueError, match="item 0 of X has edges between nodes that are not there"):
        svm(GraphModel()).fit([(features, [[0, 5]])], [["a", "b", "a"]])
    with pytest.raises(ValueError, match="item 0 of X must be a pair"):
        svm(GraphModel()).fit([features], [["a", "b", "a"]])
    wide = (np.ones((30, 1)), [[i, j] for i in range(30) for j in range(i)])
    with pytest.raises(ValueError, match="item 0 is a graph of width 30"):
        svm(GraphModel()).fit([wide], [np.arange(30) % 2])
    with pytest.raises(ValueError, match="labels from 0 to 1"):
        svm(MultilabelModel(edges=[[0, 2]])).fit(features, [[0, 1]] * 3)
    with pytest.raises(ValueError, match="indicator matrix"):
        svm(MultilabelModel()).fit(features, [[0, 2]] * 3)
    with pytest.raises(ValueError, match="'tree', 'full'"):
        svm(MultilabelModel(edges="all")).fit(features, [[0, 1]] * 3)
    with pytest.raises(ValueError, match="parent of 'cat'"):
        svm(TreeModel({"dog": None})).fit(features, ["cat", "dog", "dog"])
    with pytest.raises(ValueError, match="cycle"):
        svm(TreeModel({"dog": "cat", "cat": "dog"})).fit(features, ["cat", "dog", "dog"])


def test_scales_and_offsets_do_not_break_a_fit():
    labels = np.arange(60) % 2
    rows = np.random.default_rng(0).normal(size=(60, 2)) + 3 * labels[:, None]
    for table in (rows + 1e8, rows * 1e-12, np.column_stack([rows, np.ones(60)]), rows[:, :1] * 0):
        for model in (svm(None, max_iter=50), ConditionalRandomField(max_iter=50)):
            with np.errstate(all="raise"), pytest.MonkeyPatch.context() as patch:
                patch.setattr("latently.structure.svm.warn_unconverged", lambda *a: None)
                patch.setattr("latently.structure.crf.warn_unconverged", lambda *a: None)
                model.fit(table, labels)
            assert np.isfinite(model.coef_).all()
    one = svm(None).fit(rows[:1], ["only"])
    assert one.predict(rows).tolist() == ["only"] * 60
    assert one.gap_ == 0.0


# tokens


def test_tokens_are_hashed_features_of_words_and_their_neighbours():
    tokens = TokenFeatures(n_columns=2**12, prefixes=2, suffixes=2, window=2)
    sentences = [["Anna", "eats", "7", "apples"], ["No"]]
    found = tokens.fit_transform(sentences)
    names = list(tokens.names(sentences[0]))
    assert names[0] == [
        "word=anna", "shape=Xxx", "prefix=a", "prefix=an", "suffix=a", "suffix=na", "-1=<start>", "+1=eats",
        "-2=<start>", "+2=7",
    ]  # fmt: skip
    assert [x.shape for x in found] == [(4, 2**12), (1, 2**12)]
    assert found[0][0].sum() == len(names[0])
    assert (found[0] != tokens.transform(sentences)[0]).nnz == 0
    plain = TokenFeatures(prefixes=0, suffixes=0, window=0, shape=False, lowercase=False)
    assert list(plain.names(["Anna"])) == [["word=Anna"]]
    assert clone(tokens).get_params() == tokens.get_params()
    for wrong in ([["a"], "b"], [["a"], [1]], [["a"], []]):
        with pytest.raises(ValueError, match="item 1 of X"):
            tokens.transform(wrong)
    with pytest.raises(ValueError, match="n_columns"):
        TokenFeatures(n_columns=0).fit(sentences)


def test_models_are_saved_and_loaded(tmp_path):
    sentences, tags = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
    grids = [np.random.default_rng(i).normal(size=(2, 2, 1)) for i in range(3)]
    for model, items, outputs in (
        (ChainModel(forbidden=[("V", "D")], tokens=TokenFeatures(n_columns=64)), sentences, tags),
        (TreeModel(), [(np.ones((2, 1)), np.array([-1, 0]))] * 2, [["a", "b"], ["b", "a"]]),
        (TreeModel({"x": None, "y": "x"}), np.eye(2), ["x", "y"]),
        (MultilabelModel(), np.eye(3), np.eye(3, dtype=int)),
        (GraphModel(), grids, [np.eye(2, dtype=int)] * 3),
    ):
        for kind in (StructuredSVM, ConditionalRandomField):
            fitted = kind(model).fit(items, outputs)
            latently.save(fitted, tmp_path / "model")
            again = latently.load(tmp_path / "model")
            assert str(again.predict(items)) == str(fitted.predict(items))
    bent = StructuredSVM(kernel="rbf", random_state=0).fit(np.eye(3), [0, 1, 1])
    latently.save(bent, tmp_path / "bent")
    assert np.array_equal(
        latently.load(tmp_path / "bent").decision_function(np.eye(3)), bent.decision_function(np.eye(3))
    )


def test_edges_of_labels_are_the_tree_of_most_information():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, size=300)
    second = first ^ (rng.random(300) < 0.05)
    third = second ^ (rng.random(300) < 0.05)
    labels = np.column_stack([first, third, second])
    model = svm(MultilabelModel()).fit(labels + 0.1 * rng.normal(size=(300, 3)), labels)
    assert sorted(map(sorted, model.model_.fixed.edges.tolist())) == [[0, 2], [1, 2]]
    assert model.score(labels.astype(float), labels) > 0.95
    free = svm(MultilabelModel(edges="none")).fit(labels.astype(float), labels)
    assert free.coef_.shape == (12,)
