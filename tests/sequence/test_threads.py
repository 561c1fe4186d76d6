"""The number of threads, and how rows are cut into blocks, change nothing."""

import os
import threading

import numpy as np
import pytest

from latently.learn.engine.reduce import threads
from latently.sequence import CategoricalHMM, GaussianHMM
from latently.sequence.inference import blocked as part
from latently.sequence.inference import forward_backward as forward_backward
from latently.sequence.inference.chain import Chain
from latently.sequence.inference.threads import n_workers, packs, side_by_side

N = 30_000


def series(n=N):
    rng = np.random.RandomState(0)
    return 3.0 * rng.randint(3, size=(n, 1)) + rng.standard_normal((n, 2))


def fitted(n, X, lengths=None, **params):
    with threads(n):
        model = GaussianHMM(3, n_iter=4, tol=0, random_state=0, **params).fit(X, lengths)
        return model, model.decode(X, lengths), model.predict_proba(X, lengths), model.score(X, lengths)


@pytest.mark.parametrize("lengths", [None, [N - 9000, 9000], [100] * (N // 100)], ids=["one", "two", "many"])
def test_one_thread_and_several_give_the_same_bits(lengths):
    X = series()
    (one, path, posterior, score), *others = (fitted(n, X, lengths) for n in (1, 2, 3))
    for other, its_path, its_posterior, its_score in others:
        np.testing.assert_array_equal(one.means_, other.means_)
        np.testing.assert_array_equal(one.covars_, other.covars_)
        np.testing.assert_array_equal(one.transmat_, other.transmat_)
        np.testing.assert_array_equal(one.history_, other.history_)
        assert path[0] == its_path[0]
        np.testing.assert_array_equal(path[1], its_path[1])
        np.testing.assert_array_equal(posterior, its_posterior)
        assert score == its_score


def test_many_states_give_the_same_bits_too():
    rng = np.random.RandomState(1)
    X = rng.randint(6, size=(12_000, 1))

    def fit(n):
        with threads(n):
            return CategoricalHMM(15, n_iter=2, tol=0, random_state=0).fit(X)

    one, two = fit(1), fit(2)
    np.testing.assert_array_equal(one.transmat_, two.transmat_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_a_thread_of_somebody_elses_gives_the_same_bits():
    X, found = series(20_000), []
    worker = threading.Thread(target=lambda: found.append(fitted(2, X)))
    worker.start()
    worker.join()
    np.testing.assert_array_equal(found[0][0].means_, fitted(2, X)[0].means_)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("size", [1, 7, 64, 5000])
def test_blocks_of_any_size_agree_with_the_whole(size, keep):
    rng = np.random.default_rng(0)
    K, T = 4, 300
    chain = Chain(rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), size=K))
    L, weights = 3 * rng.normal(size=(T, K)), np.full(T, 1.5)

    def fill(i, j, b, top):
        top[:] = L[i:j].max(axis=1)
        b[:] = np.exp(L[i:j] - top[:, None])

    def job():
        return part.Job(chain, fill, lambda i, j: L[i:j].copy(), lambda i, j, g: g.copy(), weights)

    whole = forward_backward.forward_backward(job(), np.array([T]))
    cut = part.blocked_forward_backward(job(), 0, T, size, part.BufferPool(), keep=keep)
    assert cut.log_likelihood[0] == pytest.approx(whole.log_likelihood[0], rel=1e-12)
    np.testing.assert_allclose(cut.transitions, whole.transitions, rtol=1e-10)
    np.testing.assert_allclose(cut.visits, whole.visits, rtol=1e-10)
    np.testing.assert_allclose(cut.first, whole.first, rtol=1e-10)
    np.testing.assert_allclose(np.vstack(cut.results), np.vstack(whole.results), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("lengths", [[5], [3] * 40, [1, 200, 2, 2, 90, 1], [100, 100], [7, 1, 1]])
def test_groups_hold_every_sequence_once(lengths):
    groups = packs(np.array(lengths), 20)
    assert [s for first, last in groups for s in range(first, last)] == list(range(len(lengths)))
    for first, last in groups:
        assert last - first == 1 or max(lengths[first:last]) <= 20
        assert last - first == 1 or sum(lengths[first:last]) <= 40


def test_side_by_side_keeps_the_order_and_does_not_nest():
    with threads(3):
        found = side_by_side(lambda i: (i, n_workers(9)), range(20))
        assert n_workers(9) == 3
    assert found == [(i, 1) for i in range(20)]


def test_the_first_of_several_errors_is_raised_and_threads_work_on():
    def fail(i):
        if i in (5, 6):
            raise ValueError(f"item {i}")
        return i

    with threads(2):
        for _ in range(20):
            with pytest.raises(ValueError, match="item 5"):
                side_by_side(fail, range(12))
        assert side_by_side(fail, range(5)) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    with threads(2):
        side_by_side(str, range(4))
        child = os.fork()
        if child == 0:
            os._exit(0 if side_by_side(str, range(4)) == ["0", "1", "2", "3"] else 1)
        assert os.waitpid(child, 0)[1] == 0
