from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info
from toy import START, TwoCoins, tosses

from latently.data.open import as_source
from latently.learn import em, n_threads, reducing, threads
from latently.learn.engine.reduce import mapping
from latently.learn.engine.restarts import best_of


def sums(X, workers, chunk_rows=64):
    with threads(workers), reducing(as_source(X, chunk_rows=chunk_rows)) as reduce:
        return reduce(partial(TwoCoins().expect, START))


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_any_number_of_threads_gives_bitwise_the_same(workers):
    X = tosses(3000)
    assert sums(X, workers) == sums(X, 1)


def test_chunks_add_up_to_the_whole_and_can_be_taken_away():
    X = tosses(1000)
    a, b, whole = sums(X[:400], 1), sums(X[400:], 2), sums(X, 2)
    for part in ("rows", "bound", "first_heads", "second"):
        assert getattr(a + b, part) == pytest.approx(getattr(whole, part))
        assert getattr(whole - a, part) == pytest.approx(getattr(b, part))


def test_weights_equal_repeats():
    X, times = tosses(200), np.random.default_rng(0).integers(1, 4, size=200)
    with reducing(as_source(X, times)) as reduce:
        weighted = em(TwoCoins(), START, reduce, tol=1e-8)
    with reducing(as_source(np.repeat(X, times, axis=0))) as reduce:
        repeated = em(TwoCoins(), START, reduce, tol=1e-8)
    assert weighted.trace == pytest.approx(repeated.trace)
    assert weighted.params.heads == pytest.approx(repeated.params.heads)


def test_blas_runs_on_one_thread_inside():
    def blas_threads(chunk):
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    with mapping(as_source(np.zeros((10, 1)), chunk_rows=5)) as over_chunks:
        for found in over_chunks(blas_threads):
            assert found
            assert set(found) == {1}


def test_a_long_source_is_never_held_whole():
    started, taken = [], 0
    source = as_source(np.zeros((100, 1)), chunk_rows=1)
    with threads(2), mapping(source) as over_chunks:
        for _ in over_chunks(lambda chunk: started.append(chunk.start)):
            taken += 1
            assert len(started) <= taken + 4
    assert taken == 100


def test_an_error_in_a_chunk_reaches_the_caller():
    def fail(chunk):
        raise ZeroDivisionError("in a thread")

    with (
        pytest.raises(ZeroDivisionError, match="in a thread"),
        reducing(as_source(np.zeros((10, 1)), chunk_rows=2)) as reduce,
    ):
        reduce(fail)


def test_threads_must_be_positive_and_are_restored():
    before = n_threads()
    with threads(3):
        assert n_threads() == 3
    assert n_threads() == before
    with pytest.raises(ValueError, match="at least 1"), threads(0):
        pass


@pytest.mark.parametrize("side_by_side", [True, False])
def test_restarts_keep_the_best_and_the_first_of_equals(side_by_side):
    with threads(2):
        outcome = best_of(
            lambda s: (s, n_threads()),
            [("a", 1.0), ("b", 2.0), ("c", 2.0)],
            lambda o: o[0][1],
            side_by_side=side_by_side,
        )
    assert outcome == (("b", 2.0), 1 if side_by_side else 2)
