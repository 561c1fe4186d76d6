"""Models of the user's own: a matching, found by scipy's assignment; what they say is checked."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from latently.structure import ConditionalRandomField, StructuredSVM


class Matching:
    """Pairs rows with columns; x (m, m, d) are features of the pairs, y (m,) the column of each row."""

    def joint_features(self, x, y):
        return x[np.arange(len(y)), y].sum(axis=0)

    def loss(self, y, other):
        return float(np.mean(np.asarray(y) != np.asarray(other)))

    def decode(self, x, w):
        return linear_sum_assignment(-(x @ w))[1]

    def decode_with_loss(self, x, y, w):
        wrong = np.ones(x.shape[:2]) / len(y)
        wrong[np.arange(len(y)), y] = 0.0
        return linear_sum_assignment(-(x @ w + wrong))[1]

    def is_possible(self, x, y):
        return sorted(y) == list(range(len(x)))


class Listed(Matching):
    """With all outputs listed: for probabilities, for the k best, and for slack rescaling."""

    def outputs(self, x):
        return list(permutations(range(len(x))))

    def scores(self, x, w):
        return np.array([w @ self.joint_features(x, y) for y in self.outputs(x)])

    def log_partition(self, x, w):
        return np.logaddexp.reduce(self.scores(x, w))

    def expected_features(self, x, w):
        scores = self.scores(x, w)
        chances = np.exp(scores - np.logaddexp.reduce(scores))
        return chances @ np.array([self.joint_features(x, y) for y in self.outputs(x)])

    def best(self, x, w, k):
        order = np.argsort(-self.scores(x, w))[:k]
        return [self.outputs(x)[i] for i in order]

    def decode_scaled(self, x, y, w):
        ahead = 1 + self.scores(x, w) - w @ self.joint_features(x, y)
        losses = np.array([self.loss(y, other) for other in self.outputs(x)])
        return self.outputs(x)[int(np.argmax(losses * ahead))]


def matchings(n, m=4, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    w = np.array([1.0, -2.0, 0.5])
    X = [rng.normal(size=(m, m, 3)) for _ in range(n)]
    return X, [linear_sum_assignment(-(x @ w + noise * rng.normal(size=(m, m))))[1] for x in X]


def test_a_matching_is_learnt():
    X, y = matchings(60)
    model = StructuredSVM(Matching(), C=10.0, random_state=0).fit(X, y)
    assert model.converged_
    assert model.score(*matchings(100, seed=1)) > 0.85
    assert model.coef_[0] > 0 > model.coef_[1]
    assert model.decision_function(X).shape == (60,)
    with pytest.raises(TypeError, match="no best"):
        model.k_best(X)


@pytest.mark.parametrize("rescale", ["margin", "slack"])
def test_both_solvers_find_the_optimum_of_a_listed_model(rescale):
    X, y = matchings(20, m=3)
    options = {"C": 5.0, "rescale": rescale, "tol": 1e-6, "random_state": 0}
    one = StructuredSVM(Listed(), **options).fit(X, y)
    other = StructuredSVM(Listed(), solver="cutting_plane", **options).fit(X, y)
    assert one.objective_ == pytest.approx(other.objective_, rel=2e-6)
    listed, total = Listed(), 0.5 * one.coef_ @ one.coef_
    for x, truth in zip(X, y, strict=True):
        ahead = listed.scores(x, one.coef_) - one.coef_ @ listed.joint_features(x, truth)
        losses = np.array([listed.loss(truth, o) for o in listed.outputs(x)])
        total += 5.0 * (losses + ahead if rescale == "margin" else losses * (1 + ahead)).max()
    assert one.objective_ == pytest.approx(total, rel=1e-9)


def test_a_field_of_matchings_has_probabilities():
    X, y = matchings(40, m=3)
    field = ConditionalRandomField(Listed(), C=10.0).fit(X, y)
    assert field.converged_
    best = field.k_best(X, 6)
    np.testing.assert_allclose([b.probabilities.sum() for b in best], 1.0)
    chosen = {tuple(o): p for o, p in zip(best[0].outputs, best[0].probabilities, strict=True)}
    assert field.log_likelihood(X, y)[0] == pytest.approx(np.log(chosen[tuple(int(v) for v in y[0])]))
    with pytest.raises(TypeError, match="no marginals"):
        field.predict_proba(X)


def spoilt(**methods):
    return type("Spoilt", (Matching,), {name: staticmethod(f) for name, f in methods.items()})()


def test_what_a_model_says_is_checked():
    X, y = matchings(5)

    def fit(model, X=X, y=y):
        StructuredSVM(model, random_state=0).fit(X, y)

    with pytest.raises(ValueError, match="decode_with_loss of item 0 returned an impossible output"):
        fit(spoilt(decode_with_loss=lambda x, y, w: np.zeros(4, dtype=int)))
    with pytest.raises(ValueError, match="loss of item 0 is -1"):
        fit(spoilt(loss=lambda y, other: -1.0))
    with pytest.raises(ValueError, match="joint_features of item 3 has 5 entries, but 3"):
        fit(Matching(), [*X[:3], np.ones((4, 4, 5)), X[4]])
    with pytest.raises(ValueError, match="joint_features of item 1 has entries that are not finite"):
        fit(Matching(), [X[0], np.full((4, 4, 3), np.nan), *X[2:]])
    with pytest.raises(ValueError, match="X has 5 items, but y has 4"):
        fit(Matching(), X, y[:4])
    with pytest.raises(ValueError, match="y of item 2 returned an impossible|item 2"):
        fit(Matching(), X, [*y[:2], np.zeros(4, dtype=int), *y[3:]])
    with pytest.raises(TypeError, match="lacks decode, decode_with_loss"):
        fit(type("Half", (), {"joint_features": None, "loss": None})())
    model = StructuredSVM(Matching(), random_state=0).fit(X, y)
    model.model_ = spoilt(decode=lambda x, w: [0, 0, 0, 0])
    with pytest.raises(ValueError, match="decode of item 0 returned an impossible output"):
        model.predict(X)
