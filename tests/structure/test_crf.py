"""The conditional random field against enumeration of all outputs, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from tests.structure.enumeration import TOYS, chain, log_likelihood, multilabel, tree

from latently.structure import ChainModel, ConditionalRandomField, MulticlassModel
from latently.structure.solve.likelihood import Likelihood


@pytest.mark.parametrize("make", TOYS, ids=lambda make: make.__name__)
def test_likelihood_and_gradient_are_those_of_the_enumeration(make):
    toy = make(np.random.default_rng(0))
    field = ConditionalRandomField(toy.model, max_iter=3, tol=0)
    with pytest.warns(match="max_iter"):
        field.fit(toy.X, toy.y)
    assert len(field.coef_) == toy.size
    field.coef_ = np.random.default_rng(1).normal(size=toy.size)
    logs, gradient = log_likelihood(toy, field.coef_)
    np.testing.assert_allclose(field.log_likelihood(toy.X, toy.y), logs, rtol=1e-10)
    problem = field._problem(toy.X, toy.y, None, rescale="margin", loss="hamming", reset=False)
    weights = np.arange(1.0, problem.n_items + 1)
    stats = Likelihood(problem, np.ones(problem.n_items), 1.0).expect(field.coef_, None)
    np.testing.assert_allclose(stats.gradient, gradient, atol=1e-10)
    assert stats.bound == pytest.approx(logs.sum(), rel=1e-10)
    assert Likelihood(problem, weights, 1.0).expect(field.coef_, None).bound == pytest.approx(weights @ logs, rel=1e-10)


@pytest.mark.parametrize("make", TOYS, ids=lambda make: make.__name__)
def test_marginals_and_best_outputs_are_those_of_the_enumeration(make):
    toy = make(np.random.default_rng(2))
    field = ConditionalRandomField(toy.model, C=5.0).fit(toy.X, toy.y)
    assert field.converged_
    found = field.predict_proba(toy.X)
    for item, best in enumerate(field.k_best(toy.X, 3)):
        psi, _, _ = toy.table(item)
        chances = np.exp(psi @ field.coef_ - np.logaddexp.reduce(psi @ field.coef_))
        outputs = np.array(toy.outputs(item))
        K = toy.basis.shape[1]
        expected = np.array([[chances[outputs[:, t] == k].sum() for k in range(K)] for t in range(outputs.shape[1])])
        own = expected[:, 1] if toy.name == "multilabel" else expected
        np.testing.assert_allclose(np.asarray(found[item]).reshape(own.shape), own, atol=1e-10)
        np.testing.assert_allclose(best.probabilities, np.sort(chances)[::-1][:3], atol=1e-10)


def test_labels_that_are_not_known_are_summed_out():
    toy = chain(np.random.default_rng(3), n=6)
    y = [own.astype(object) for own in toy.y]
    y[0][0] = y[2][-1] = y[3][0] = None
    field = ConditionalRandomField(toy.model, C=2.0).fit(toy.X, y)
    w = field.coef_
    for item, value in enumerate(field.log_likelihood(toy.X, y)):
        psi, _, _ = toy.table(item)
        scores = psi @ w
        agrees = [
            all(b is None or toy_label(toy, a) == b for a, b in zip(o, y[item], strict=True)) for o in toy.outputs(item)
        ]
        assert value == pytest.approx(np.logaddexp.reduce(scores[agrees]) - np.logaddexp.reduce(scores), rel=1e-9)
    problem = field._problem(toy.X, y, None, rescale="margin", loss="hamming", reset=False)
    objective = Likelihood(problem, np.ones(6), 2.0)
    step = 1e-6 * np.eye(len(w))
    numeric = [(objective.expect(w + s, None).bound - objective.expect(w - s, None).bound) / 2e-6 for s in step]
    np.testing.assert_allclose(objective.expect(w, None).gradient, numeric, atol=1e-6)


def toy_label(toy, code):
    return np.unique(np.concatenate(toy.y))[code]


def test_a_field_of_classes_is_logistic_regression():
    X, y = load_iris(return_X_y=True)
    field = ConditionalRandomField(MulticlassModel(fit_intercept=False), C=0.5, tol=1e-10).fit(X, y)
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(field.predict_proba(X), peer.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(field.coef_.reshape(-1, 3).T, peer.coef_, atol=1e-3)


def simulated(n, seed):
    """Chains drawn from a random field whose weights are known."""
    rng = np.random.default_rng(seed)
    W, P = np.array([[1.5, 0.0, -1.0], [0.0, -1.0, 1.0]]), np.array([[1.0, 0, -1], [0, 0.5, 0], [-1, 0, 1]])
    X, y = [], []
    for _ in range(n):
        x = rng.normal(size=(6, 2))
        U, paths = x @ W, np.stack(np.meshgrid(*[range(3)] * 6, indexing="ij"), -1).reshape(-1, 6)
        scores = U[np.arange(6), paths].sum(axis=1) + P[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        chances = np.exp(scores - np.logaddexp.reduce(scores))
        X.append(x)
        y.append(paths[rng.choice(len(paths), p=chances)])
    return X, y, np.concatenate([W.ravel(), P.ravel()])


def test_probabilities_are_calibrated_and_weights_are_found():
    X, y, truth = simulated(700, 0)
    field = ConditionalRandomField(ChainModel(fit_intercept=False), C=100.0).fit(X, y)
    W = field.coef_[:6].reshape(2, 3)
    centred = W - W.mean(axis=1, keepdims=True)
    expected = truth[:6].reshape(2, 3)
    np.testing.assert_allclose(centred, expected - expected.mean(axis=1, keepdims=True), atol=0.15)
    new, labels, _ = simulated(700, 1)
    chances = np.concatenate(field.predict_proba(new))
    right = np.concatenate(labels)[:, None] == np.arange(3)
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = (chances >= low) & (chances < low + 0.2)
        assert right[inside].mean() == pytest.approx(chances[inside].mean(), abs=0.04)


def test_decisions_follow_the_reward():
    X, y, _ = simulated(100, 2)
    field = ConditionalRandomField(ChainModel(), C=1.0).fit(X, y)
    beliefs = np.concatenate(field.predict_proba(X))
    careful = field.decide(X, np.array([[1.0, 0.0], [0.0, 0.3], [0.0, 0.3]]))
    assert np.array_equal(careful.action, (beliefs[:, 1:].sum(axis=1) * 0.3 > beliefs[:, 0]).astype(int))
    toy = multilabel(np.random.default_rng(0))
    tags = ConditionalRandomField(toy.model).fit(toy.X, toy.y)
    assert np.array_equal(tags.decide(toy.X, np.eye(2)).action, (tags.predict_proba(toy.X) > 0.5).astype(int).ravel())


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    X, y, _ = simulated(60, 3)
    field = ConditionalRandomField(ChainModel(), C=10.0, tol=1e-9).fit(X, y, checkpoint=tmp_path, every=5)
    again = ConditionalRandomField(ChainModel(), C=10.0, tol=1e-9).fit(X, y, checkpoint=tmp_path, every=5)
    np.testing.assert_array_equal(field.coef_, again.coef_)
    with pytest.raises(ValueError, match="another fit"):
        ConditionalRandomField(ChainModel(), C=11.0, tol=1e-9).fit(X, y, checkpoint=tmp_path, every=5)


def test_long_chains_do_not_underflow():
    rng = np.random.default_rng(0)
    X, y = [500 * rng.normal(size=(3000, 2))], [rng.integers(0, 2, size=3000)]
    field = ConditionalRandomField(ChainModel(), max_iter=5)
    with pytest.warns(match="max_iter"):
        field.fit(X, y)
    assert np.isfinite(field.coef_).all()
    np.testing.assert_allclose(field.predict_proba(X)[0].sum(axis=1), 1.0)


def test_deep_trees_and_forbidden_pairs_have_marginals():
    toy = tree(np.random.default_rng(0))
    field = ConditionalRandomField(toy.model).fit(toy.X, toy.y)
    deep = [(np.random.default_rng(1).normal(size=(2000, 2)), np.arange(-1, 1999))]
    np.testing.assert_allclose(field.predict_proba(deep)[0].sum(axis=1), 1.0)
    X, y, _ = simulated(40, 4)
    sorted_y = [np.sort(own) for own in y]
    ordered = ConditionalRandomField(ChainModel(forbidden=[(1, 0), (2, 0), (2, 1)])).fit(X, sorted_y)
    chances = ordered.predict_proba(X)[0]
    assert (np.diff(chances[:, 0]) <= 1e-12).all()  # once left, never entered again
