"""A cluster of two worker processes: the same bits, work where the data is, workers killed in mid-iteration."""

import os
import signal
import warnings
from functools import partial

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import toy
from sklearn.base import clone
from toy import START, Seen, TwoCoins, tosses

from latently.cluster import GaussianMixture, KMeans, Mixture
from latently.data.dask.source import dask_source
from latently.learn import em, n_threads, reducing, select
from latently.learn.checkpoint.checkpoint import checkpointing
from latently.predict import GaussianNB, NaiveBayes

distributed = pytest.importorskip("distributed")
ROWS = tosses(4000)
CHUNKS = (350, 1)
X = np.random.default_rng(0).normal(size=(6000, 3)) + np.repeat([[0.0], [5.0], [-5.0]], 2000, axis=0)


@pytest.fixture(scope="module")
def client():
    cloudpickle.register_pickle_by_value(toy)  # workers cannot import it
    # any free port: None would not mean no dashboard but the usual port, which may be taken
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client
    cloudpickle.unregister_pickle_by_value(toy)


def coins(source, model=None, **options):
    with reducing(source) as reduce:
        return em(model or TwoCoins(), START, reduce, **({"tol": 0.0, "max_iter": 8} | options))


def in_process():
    with dask.config.set(scheduler="synchronous"):
        return coins(dask_source(da.from_array(ROWS, chunks=CHUNKS)))


def test_any_number_of_workers_gives_the_same_bits(client):
    source = dask_source(da.from_array(ROWS, chunks=CHUNKS))
    assert source.client is client
    assert len(set(source.holders())) == 2
    assert coins(source).trace == in_process().trace


def test_work_is_done_by_the_workers_on_one_core_where_the_data_is(client):
    source = dask_source(da.from_array(ROWS, chunks=CHUNKS))

    def place(chunk):
        from threadpoolctl import threadpool_info

        blas = {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}
        return [(chunk.start, os.getpid(), n_threads(), tuple(blas))]

    before = source.holders()
    with reducing(source) as reduce:
        found = reduce(place)
        found_again = reduce(place)
    assert [start for start, *_ in found] == source.starts
    assert {(threads, blas) for *_, threads, blas in found} == {(1, (1,))}
    assert os.getpid() not in {pid for _, pid, *_ in found}
    assert source.holders() == before  # nothing was moved or copied
    assert found == found_again
    assert set(before) == set(client.nthreads())


def test_workers_have_equal_shares_of_rows_that_were_all_on_one(client):
    one = min(client.nthreads())
    array = da.from_array(X, chunks=(500, 3))
    with dask.annotate(workers=[one]):
        persisted = array.persist(optimize_graph=False)
    source = dask_source(persisted)
    assert sorted(map(source.holders().count, client.nthreads())) == [6, 6]
    with reducing(source) as reduce:
        assert reduce(lambda chunk: chunk.X.sum()) == pytest.approx(X.sum())
        assert reduce(lambda chunk: int(not chunk.X.flags.aligned)) == 0


def test_naive_bayes_goes_once_over_what_the_workers_are_still_computing(client):
    labels = (X[:, 0] > 0).astype(int)
    rows, targets = da.from_array(X, chunks=(500, 3)).persist(), da.from_array(labels, chunks=500).persist()
    there, here = GaussianNB().fit(rows, targets), GaussianNB().fit(X, labels)
    assert np.allclose(there.theta_, here.theta_, rtol=1e-12)
    assert np.allclose(there.var_, here.var_, rtol=1e-12)
    assert {len(workers) for workers in client.who_has(rows).values()} == {1}  # nothing was moved


def test_many_tasks_are_sent_as_one_graph(client, monkeypatch):
    monkeypatch.setattr("latently.learn.dask.reduce.FEW_TASKS", 0)
    assert coins(dask_source(da.from_array(ROWS, chunks=CHUNKS))).trace == in_process().trace


def test_a_fit_inside_a_task_waits_as_dask_wants_it(client):
    def inside():
        with distributed.worker_client():
            return in_process_sum()

    def in_process_sum():
        with reducing(dask_source(da.ones((40, 2), chunks=(10, 2)))) as reduce:
            return reduce(lambda chunk: chunk.n_rows)

    assert client.submit(inside).result(timeout=60) == 40


def test_memos_stay_on_the_worker_and_the_model_is_sent_once(client):
    class Counting(TwoCoins):
        def expect(self, params, chunk):
            self.calls = getattr(self, "calls", 0) + 1
            chunk.memo["visits"] = chunk.memo.get("visits", 0) + 1
            stats = super().expect(params, chunk)
            return Seen(stats.rows, stats.bound, self.calls, chunk.memo["visits"])

    source = dask_source(da.from_array(ROWS, chunks=CHUNKS))
    model = Counting()
    with reducing(source) as reduce:
        sums = [reduce(partial(model.expect, START)) for _ in range(3)]
    assert [s.visits for s in sums] == [12, 24, 36]
    assert sums[2].calls > sums[1].calls > sums[0].calls
    assert not hasattr(model, "calls")


def test_a_large_function_travels_in_pieces(client):
    offset = np.random.default_rng(0).normal(size=1_500_000)  # 12 MB, above what Dask warns of
    with reducing(dask_source(da.from_array(ROWS, chunks=CHUNKS))) as reduce:
        assert reduce(lambda chunk: chunk.n_rows * offset[-1]) == pytest.approx(4000 * offset[-1])


@pytest.mark.parametrize("persist", [True, False])
def test_a_worker_killed_in_mid_iteration_changes_nothing(client, tmp_path, persist):
    class Deadly(TwoCoins):
        """Kills the process it runs in, once, in the middle of the third iteration."""

        def __init__(self, mark):
            self.mark = mark

        def expect(self, params, chunk):
            late = chunk.start > 2000 and params.weight not in (START.weight, first.params.weight)
            if late and not os.path.exists(self.mark):
                with open(self.mark, "w") as file:
                    file.write(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)
            return super().expect(params, chunk)

    source = dask_source(da.from_array(ROWS, chunks=CHUNKS), persist=persist)
    first = coins(source, max_iter=1)
    mark = tmp_path / "killed"
    before = set(client.run(os.getpid).values())
    fit = coins(source, Deadly(str(mark)))
    assert int(mark.read_text()) in before
    assert fit.trace == in_process().trace
    client.wait_for_workers(2, timeout=30)
    assert coins(source).trace == fit.trace


def test_estimators_run_there_end_to_end(client):
    import dask.dataframe as dd

    array = da.from_array(X, chunks=(1000, 2))
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=5)
    here, there = (GaussianMixture(3, random_state=0).fit(data) for data in (X, array))
    assert np.allclose(here.means_, there.means_, rtol=1e-10, atol=1e-10)
    centres, far = (KMeans(3, random_state=0).fit(data) for data in (pd.DataFrame(X, columns=["a", "b", "c"]), frame))
    assert np.allclose(centres.cluster_centers_, far.cluster_centers_, rtol=1e-10)
    assert np.array_equal(far.predict(frame).compute(), centres.labels_)
    assert np.array_equal(there.predict_proba(array).compute().argmax(axis=1), here.predict(X))


def test_tables_with_text_are_read_there(client):
    import dask.dataframe as dd

    table = pd.DataFrame(X[:900], columns=["a", "b", "c"]).assign(
        kind=np.array(["u", "v"])[(X[:900, 0] > 0).astype(int)]
    )
    frame = dd.from_pandas(table, npartitions=3)
    mixed = {"y": X[:900, 1] > 0}, {"y": dd.from_pandas(pd.Series(X[:900, 1] > 0), npartitions=3)}
    for model, more in ((Mixture(2, random_state=0), ({}, {})), (NaiveBayes(), mixed)):
        here, there = clone(model).fit(table, **more[0]), clone(model).fit(frame, **more[1])
        assert np.allclose(there.predict_proba(frame).compute(), here.predict_proba(table), rtol=1e-9)


def test_selection_runs_on_the_cluster(client):
    grid = (GaussianMixture(random_state=0), {"n_components": [2, 3]})
    there, here = select(grid, da.from_array(X, chunks=(1000, 3))), select(grid, X)
    assert there.best["n_components"] == 3
    assert there.best["bic"] == pytest.approx(here.best["bic"], rel=1e-10)


def test_a_checkpoint_made_on_the_cluster_goes_on_in_this_process(client, tmp_path):
    def dying(step):
        if step.iteration == 5:
            raise ZeroDivisionError

    array = da.from_array(ROWS, chunks=CHUNKS)
    with checkpointing(tmp_path, 2), pytest.raises(ZeroDivisionError):
        coins(dask_source(array), on_iteration=dying)
    with dask.config.set(scheduler="synchronous"), checkpointing(tmp_path, 2):
        assert coins(dask_source(array)).trace == in_process().trace


def test_errors_of_a_worker_reach_the_caller(client):
    def fails(chunk):
        raise ZeroDivisionError(f"at row {chunk.start}")

    with (
        reducing(dask_source(da.from_array(ROWS, chunks=CHUNKS))) as reduce,
        pytest.raises(ZeroDivisionError, match="at row"),
    ):
        reduce(fails)


def test_a_closed_client_is_an_error_that_says_so(client):
    with distributed.Client(client.cluster, set_as_default=False) as second, second.as_current():
        source = dask_source(da.from_array(ROWS, chunks=CHUNKS))
        assert source.client is second
    with pytest.raises(RuntimeError, match="client that holds the data is closed: keep the distributed.Client open"):
        coins(source)
    with pytest.raises(RuntimeError, match="closed"):
        next(iter(source))


@pytest.fixture(autouse=True)
def _quiet():
    """A worker that is killed is told of in many ways, by Dask itself."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ResourceWarning)
        yield
