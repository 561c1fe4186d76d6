import os
import threading
import time

import pytest

from latently.learn import n_threads
from latently.learn.engine.thread_pool import in_order, thread_pool


def test_threads_are_kept_for_the_next_one_and_not_lent_twice():
    with thread_pool(1) as first, thread_pool(1) as second:
        assert first is not second
    with thread_pool(1) as again:
        assert again is first or again is second


def test_who_asks_works_as_well():
    """One thread is held up until the other work is done, which only the asker can do."""
    free = threading.Event()

    def held():
        return free.wait(timeout=10)

    def frees():
        free.set()
        return threading.current_thread() is threading.main_thread(), n_threads()

    with thread_pool(1) as pool:
        released, (by_main, cores) = in_order(pool, [held, frees], 2)
    assert released
    assert cores == 1 or not by_main


@pytest.mark.parametrize("n", [1, 3])
def test_the_order_is_that_of_the_works_whoever_does_them(n):
    works = [lambda i=i: (time.sleep(0.002 * (i % 3)), i)[1] for i in range(40)]
    with thread_pool(n) as pool:
        assert list(in_order(pool, works, 4)) == list(range(40))


def test_no_more_are_under_way_than_the_window():
    begun, taken = [], 0
    with thread_pool(1) as pool:
        for _ in in_order(pool, (lambda i=i: begun.append(i) for i in range(30)), 3):
            taken += 1
            assert len(begun) <= taken + 3


def test_an_error_comes_in_its_place_and_ends_the_rest():
    done = []

    def fail():
        raise ZeroDivisionError("here")

    with thread_pool(1) as pool:
        results = in_order(pool, [lambda: 1, fail, *(lambda i=i: done.append(i) for i in range(100))], 4)
        assert next(results) == 1
        with pytest.raises(ZeroDivisionError, match="here"):
            next(results)
    assert len(done) < 5


def test_what_has_begun_is_waited_for_when_somebody_stops():
    ended = []

    def slow():
        time.sleep(0.05)
        ended.append(True)

    begun = threading.Event()
    with thread_pool(2) as pool:
        results = in_order(pool, [lambda: 0, lambda: (begun.set(), slow()), slow, slow], 3)
        next(results)
        begun.wait(timeout=0.02)
        results.close()
        so_far = len(ended)
        time.sleep(0.1)
        assert len(ended) == so_far


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_has_threads_of_its_own():
    with thread_pool(1) as pool:
        pool.submit(int).result()
    child = os.fork()
    if child == 0:
        with thread_pool(1) as pool:
            os._exit(0 if pool.submit(lambda: 7).result(timeout=10) == 7 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
