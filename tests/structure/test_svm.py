"""The structured SVM against quadratic programmes with a constraint for every output, and against peers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import LinearSVC
from tests.structure.enumeration import TOYS, chain, multiclass, optimum, primal, tree

from latently.kernel import RBF, Linear
from latently.structure import ChainModel, MulticlassModel, StructuredSVM

TIGHT = {"tol": 1e-7, "random_state": 0}


@pytest.mark.parametrize("rescale", ["margin", "slack"])
@pytest.mark.parametrize("make", TOYS, ids=lambda make: make.__name__)
def test_the_optimum_is_that_of_the_quadratic_programme(make, rescale):
    for seed in range(2):
        toy = make(np.random.default_rng(seed))
        found = StructuredSVM(toy.model, C=0.7, rescale=rescale, **TIGHT).fit(toy.X, toy.y)
        expected = optimum(toy, 0.7, rescale)
        assert found.objective_ == pytest.approx(primal(toy, found.coef_, 0.7, rescale), rel=1e-9)
        assert found.objective_ == pytest.approx(expected, rel=1e-5)
        assert found.dual_objective_ <= found.objective_
        assert found.gap_ <= 1e-7
        assert found.converged_


@pytest.mark.parametrize("rescale", ["margin", "slack"])
@pytest.mark.parametrize("make", [multiclass, chain, tree], ids=lambda make: make.__name__)
def test_cutting_plane_and_frank_wolfe_agree(make, rescale):
    toy = make(np.random.default_rng(3))
    options = {"C": 2.0, "rescale": rescale, "tol": 1e-6, "random_state": 0}
    one = StructuredSVM(toy.model, solver="cutting_plane", **options).fit(toy.X, toy.y)
    other = StructuredSVM(toy.model, **options).fit(toy.X, toy.y)
    assert one.converged_
    assert one.objective_ == pytest.approx(other.objective_, rel=2e-6)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=2e-2)
    assert one.objective_ == pytest.approx(primal(toy, one.coef_, 2.0, rescale), rel=1e-9)


def test_the_dual_never_falls_and_bounds_the_primal():
    toy = chain(np.random.default_rng(1), n=30)
    found = StructuredSVM(toy.model, C=5.0, **TIGHT).fit(toy.X, toy.y)
    assert (np.diff(found.trace_) >= -1e-12 * found.objective_).all()
    assert found.trace_[-1] <= found.objective_
    averaged = StructuredSVM(toy.model, C=5.0, average=True, tol=1e-3, random_state=0).fit(toy.X, toy.y)
    assert averaged.gap_ <= 1e-3
    assert averaged.objective_ == pytest.approx(primal(toy, averaged.coef_, 5.0, "margin"), rel=1e-9)
    assert not np.array_equal(averaged.coef_, found.coef_)


@pytest.mark.parametrize("solver", ["frank_wolfe", "cutting_plane"])
def test_the_hinge_of_crammer_and_singer_is_that_of_scikit_learn(solver):
    X, y = load_iris(return_X_y=True)
    peer = LinearSVC(multi_class="crammer_singer", C=0.3, fit_intercept=False, tol=1e-8, max_iter=100_000).fit(X, y)
    ours = StructuredSVM(MulticlassModel(fit_intercept=False), C=0.3, solver=solver, tol=1e-5, random_state=0).fit(X, y)
    scores = X @ peer.coef_.T
    hinge = (scores + (np.arange(3) != y[:, None])).max(axis=1) - scores[np.arange(len(y)), y]
    theirs = 0.5 * (peer.coef_**2).sum() + 0.3 * hinge.sum()
    assert ours.objective_ == pytest.approx(theirs, rel=1e-4)
    np.testing.assert_allclose(ours.coef_.reshape(-1, 3).T, peer.coef_, atol=1e-2)
    assert (ours.predict(X) == peer.predict(X)).mean() > 0.99


def test_a_kernel_of_inner_products_is_the_linear_machine():
    toy = chain(np.random.default_rng(0), n=12)
    options = {"C": 0.5, "tol": 1e-6, "random_state": 0}
    linear = StructuredSVM(toy.model, **options).fit(toy.X, toy.y)
    kernel = StructuredSVM(toy.model, kernel=Linear(), **options).fit(toy.X, toy.y)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=2e-6)
    new = [np.random.default_rng(9).normal(size=(4, 2)) for _ in range(10)]
    np.testing.assert_allclose(kernel.decision_function(new), linear.decision_function(new), atol=5e-3)
    assert all(np.array_equal(a, b) for a, b in zip(kernel.predict(new), linear.predict(new), strict=True))


def test_a_radial_kernel_parts_what_no_plane_can():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (np.abs(X).max(axis=1) > 1).astype(int)
    options = {"C": 50.0, "random_state": 0, "tol": 1e-2}
    bent = StructuredSVM(kernel=RBF(width=0.7), **options).fit(X, y)
    flat = StructuredSVM(**options).fit(X, y)
    assert bent.score(X, y) > 0.97 > 0.75 > flat.score(X, y)


def test_weights_of_items_equal_repeats():
    toy = chain(np.random.default_rng(2), n=6)
    weights = np.array([1, 2, 0, 3, 1, 1])
    weighted = StructuredSVM(toy.model, C=0.7, **TIGHT).fit(toy.X, toy.y, weights)
    rows = np.repeat(np.arange(6), weights)
    repeated = StructuredSVM(toy.model, C=0.7, **TIGHT).fit([toy.X[i] for i in rows], [toy.y[i] for i in rows])
    assert weighted.objective_ == pytest.approx(optimum(toy, 0.7, "margin", weights), rel=1e-5)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_sparse_features_and_lengths_give_the_same_fit():
    toy = chain(np.random.default_rng(4), n=20)
    dense = StructuredSVM(toy.model, **TIGHT).fit(toy.X, toy.y)
    thin = StructuredSVM(toy.model, **TIGHT).fit([sparse.csr_matrix(x) for x in toy.X], toy.y)
    lengths = [len(x) for x in toy.X]
    rows = StructuredSVM(toy.model, **TIGHT).fit(np.vstack(toy.X), np.concatenate(toy.y), lengths=lengths)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-9)
    np.testing.assert_array_equal(rows.coef_, dense.coef_)
    flat = rows.predict(np.vstack(toy.X), lengths)
    assert np.array_equal(flat, np.concatenate(dense.predict(toy.X)))


def test_costs_of_labels_are_what_wrong_answers_cost():
    X, y = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
    costs = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [1.0, 1.0, 0.0]])
    found = StructuredSVM(loss=costs, tol=1e-6, random_state=0).fit(X, y)
    W = found.coef_.reshape(5, 3)
    scores = np.column_stack([X, np.ones(60)]) @ W
    losses = (scores + costs[y]).max(axis=1) - scores[np.arange(60), y]
    assert found.objective_ == pytest.approx(0.5 * (W**2).sum() + losses.sum(), rel=1e-9)
    assert (found.predict(X) == 2).sum() < (StructuredSVM(random_state=0).fit(X, y).predict(X) == 2).sum()


def test_more_items_are_learnt_without_those_before():
    toy = chain(np.random.default_rng(5), n=40)
    model = StructuredSVM(toy.model, C=1.0, **TIGHT)
    model.partial_fit(toy.X[:20], toy.y[:20], classes=["a", "b", "c"])
    whole = StructuredSVM(toy.model, C=1.0, **TIGHT).fit(toy.X[:20], toy.y[:20])
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-4)
    before = model.coef_
    model.partial_fit(toy.X[20:], toy.y[20:])
    # the proximal problem of the new items: no step from its solution is better
    later = chain(np.random.default_rng(5), n=40)

    def value(w):
        return 0.5 * (w - before) @ (w - before) + sum(
            (loss + (psi - truth) @ w).max() for psi, loss, truth in map(later.table, range(20, 40))
        )

    rng = np.random.default_rng(0)
    assert model.objective_ == pytest.approx(value(model.coef_), rel=1e-9)
    assert all(value(model.coef_ + 1e-2 * rng.normal(size=len(before))) > model.objective_ for _ in range(20))


def test_the_best_outputs_are_those_of_the_enumeration():
    for make in (*TOYS, lambda rng: tree(rng, K=3)):
        toy = make(np.random.default_rng(6))
        found = StructuredSVM(toy.model, C=3.0, tol=1e-2, random_state=0).fit(toy.X, toy.y)
        for item, best in enumerate(found.k_best(toy.X, 4)):
            psi, _, _ = toy.table(item)
            expected = np.sort(psi @ found.coef_)[::-1][:4]
            np.testing.assert_allclose(best.scores, expected, atol=1e-9)
            assert best.margins[0] == pytest.approx(expected[0] - expected[1], abs=1e-9)
            np.testing.assert_allclose(best.margins[1:], expected[0] - expected[1:], atol=1e-9)
            assert len({str(output) for output in best.outputs}) == len(expected)


def test_labels_that_are_not_known_are_found_by_the_others():
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(60):
        labels = rng.integers(0, 2) ^ (np.arange(6) // 3)
        X.append(rng.normal(size=(6, 2)) * 0.6 + 2.0 * labels[:, None] - 1)
        y.append(labels)
    hidden = [np.where(rng.random(6) < 0.6, np.nan, own) for own in y]
    found = StructuredSVM(ChainModel(), C=1.0, random_state=0).fit(X, hidden)
    assert found.classes_.tolist() == [0.0, 1.0]
    assert found.score(X, y) > 0.97
    assert np.isfinite(found.coef_).all()


def test_losses_of_latent_labels_are_those_of_the_enumeration():
    toy = chain(np.random.default_rng(11), n=12)
    y = [own.astype(object) for own in toy.y]
    for own in y[1:6]:
        own[-1] = None
    names = np.unique(np.concatenate(toy.y))
    found = StructuredSVM(toy.model, C=1.0, **TIGHT).fit(toy.X, y)
    total = 0.5 * found.coef_ @ found.coef_
    for item, own in enumerate(y):
        outputs = [[names[k] for k in output] for output in toy.outputs(item)]
        scores = toy.table(item)[0] @ found.coef_
        wrong = [sum(b is not None and a != b for a, b in zip(o, own, strict=True)) for o in outputs]
        agrees = np.array(wrong) == 0
        total += (scores + wrong).max() - scores[agrees].max()
    assert found.objective_ == pytest.approx(total, rel=1e-5)


def test_forbidden_transitions_are_never_predicted():
    toy = chain(np.random.default_rng(7), n=30)
    y = [np.sort(own) for own in toy.y]
    model = ChainModel(forbidden=[("b", "a"), ("c", "a"), ("c", "b"), (None, "c")])
    y = [np.where(np.arange(len(own)) == 0, "a", own) for own in y]
    found = StructuredSVM(model, C=1.0, random_state=0).fit(toy.X, y)
    new = [np.random.default_rng(i).normal(size=(5, 2)) for i in range(40)]
    for labels in found.predict(new):
        assert (np.diff(np.searchsorted(["a", "b", "c"], labels)) >= 0).all()
        assert labels[0] != "c"
    for best in found.k_best(new[:5], 5):
        assert all(list(labels) == sorted(labels) for labels in best.outputs)


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    toy = chain(np.random.default_rng(8), n=40)
    for solver in ("frank_wolfe", "cutting_plane"):
        model = StructuredSVM(toy.model, C=3.0, solver=solver, tol=1e-5, random_state=0)
        whole = model.fit(toy.X, toy.y)
        coef, rounds = whole.coef_, whole.n_iter_
        assert rounds > 4
        short = StructuredSVM(toy.model, C=3.0, solver=solver, tol=1e-5, random_state=0)
        with pytest.raises(RuntimeError, match="the lights"):
            _interrupted(short, toy, tmp_path / solver)
        again = StructuredSVM(toy.model, C=3.0, solver=solver, tol=1e-5, random_state=0)
        again.fit(toy.X, toy.y, checkpoint=tmp_path / solver, every=2)
        np.testing.assert_allclose(again.coef_, coef, atol=1e-10)
        assert again.n_iter_ == rounds
        other = [x + 1.0 for x in toy.X]
        with pytest.raises(ValueError, match="another fit|other data"):
            again.fit(other, toy.y, checkpoint=tmp_path / solver, every=2)


def _interrupted(model, toy, path):
    from latently.structure.solve import progress

    calls = []

    def store(slot, state, objectives, trace, reason, real=progress.store):
        real(slot, state, objectives, trace, reason)
        calls.append(trace)
        if len(calls) == 4:
            raise RuntimeError("the lights went out")

    from latently.structure.solve import cutting_plane, frank_wolfe

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frank_wolfe, "store", store)
        patch.setattr(cutting_plane, "store", store)
        model.fit(toy.X, toy.y, checkpoint=path, every=2)


def test_running_out_of_rounds_is_said():
    toy = chain(np.random.default_rng(8), n=40)
    with pytest.warns(match="max_iter"):
        found = StructuredSVM(toy.model, C=100.0, max_iter=1, tol=1e-9, random_state=0).fit(toy.X, toy.y)
    assert not found.converged_
    assert found.gap_ > 1e-9
