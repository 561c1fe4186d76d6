"""Dask against threads, dask-ml and Spark MLlib, on one machine with two cores.

    python -m benchmarks.dask_compare --rows 5000000
    python -m benchmarks.dask_compare --rows 5000000 --spark-python path/to/python/with/pyspark

Times are per iteration, by the clock of a fit's hook or from the difference of a long and a short fit, so that neither
reading the data nor drawing a start counts; everybody goes through the same number of iterations from the same start
(Spark draws its own).
"""

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CHUNK, COLUMNS, SHORT, LONG = 100_000, 10, 2, 12
WORKERS = 2
GOALS = {"threads": 1 / 1.2, "dask-ml": 3.0, "spark": 5.0}


def make_rows(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, COLUMNS))
    X += rng.normal(scale=2.5, size=(20, COLUMNS))[rng.integers(20, size=n)]
    return X


def our_mixture(X: np.ndarray, iterations: int) -> Any:
    from latently.cluster import GaussianMixture

    start = {
        "weights_init": np.full(10, 0.1),
        "means_init": X[:10],
        "precisions_init": np.tile(np.eye(COLUMNS), (10, 1, 1)),
    }
    return GaussianMixture(10, tol=0.0, max_iter=iterations, **start)


def our_kmeans(X: np.ndarray, iterations: int) -> Any:
    from latently.cluster import KMeans

    return KMeans(20, init=X[:20], n_init=1, tol=0.0, max_iter=iterations)


def dask_ml_kmeans(X: np.ndarray, iterations: int) -> Any:
    from dask_ml.cluster import KMeans

    return KMeans(20, init=X[:20], max_iter=iterations, tol=0.0)


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def short_and_long(make: Callable[[int], Any], data: Any) -> Callable[[], list[float]]:
    """Give a function that fits a short and a long time, and says what each took."""
    return lambda: [seconds(lambda n=n: make(n).fit(data)) for n in (SHORT, LONG)]


def within(make: Callable[[int], Any], data: Any) -> Callable[[], list[float]]:
    """Give a function that makes a long fit and says what an iteration of it costs, from the clock in its hook."""

    def once() -> list[float]:
        clock: list[float] = []
        make(LONG).fit(data, on_iteration=lambda step: clock.append(time.perf_counter()))
        return [(clock[LONG - 1] - clock[SHORT - 1]) / (LONG - SHORT)]

    return once


def interleaved(runs: dict[str, Callable[[], list[float]]], rounds: int) -> dict[str, float]:
    """Best of several rounds, in turn: what an iteration costs where a short and a long fit were timed, or the fit."""
    found = [{name: run() for name, run in runs.items()} for _ in range(rounds)]
    best = {name: np.min([each[name] for each in found], axis=0) for name in runs}
    return {name: float((b[-1] - b[0]) / (LONG - SHORT) if len(b) > 1 else b[0]) for name, b in best.items()}


def entry(name: str, times: dict[str, float], goals: dict[str, float], extra: str = "") -> dict[str, Any]:
    for peer, goal in goals.items():
        ratio = times[peer] / times["latently"]
        mark = "ok" if ratio >= goal else "MISSED"
        line = f"{name:<28} latently on dask {times['latently']:8.4f} s   {peer:<8} {times[peer]:8.4f} s"
        print(f"{line}   ratio {ratio:6.2f} (goal {goal:.2f}) {mark} {extra}", flush=True)
    return {"name": name, "seconds": times, "goals": goals}


def against_threads(client: Any, X: np.ndarray, rounds: int) -> list[dict[str, Any]]:
    """Dask with two single-thread workers, and two threads, on chunks of the same rows."""
    import dask.array as da

    from latently.data.dask.source import dask_source
    from latently.data.sources.chunks import ArraySource
    from latently.learn import threads

    there = dask_source(da.from_array(X, chunks=(CHUNK, COLUMNS)), chunk_rows=CHUNK)
    here = ArraySource(X, None, CHUNK)
    results = []
    for name, make in {"GaussianMixture(10)": our_mixture, "KMeans(20)": our_kmeans}.items():

        def by_threads(make: Any = make) -> list[float]:
            with threads(WORKERS):
                return within(lambda n: make(X, n), here)()

        runs = {"latently": within(lambda n, make=make: make(X, n), there), "threads": by_threads}
        times = interleaved(runs, rounds)
        overhead = times["latently"] - times["threads"]
        results.append(entry(name, times, {"threads": GOALS["threads"]}, f"overhead {overhead:.3f} s per iteration"))
    return results


def against_dask_ml(client: Any, X: np.ndarray, rounds: int) -> list[dict[str, Any]]:
    """The same persisted array on the same cluster."""
    import dask.array as da
    from dask_ml.naive_bayes import GaussianNB as TheirNB

    from latently.predict import GaussianNB

    array = da.from_array(X, chunks=(CHUNK, COLUMNS)).persist()
    y = (array[:, 0] > 0).astype(int).persist()
    runs = {
        "latently": short_and_long(lambda n: our_kmeans(X, n), array),
        "dask-ml": short_and_long(lambda n: dask_ml_kmeans(X, n), array),
    }
    ours, theirs = our_kmeans(X, LONG).fit(array), dask_ml_kmeans(X, LONG).fit(array)
    same = np.allclose(ours.cluster_centers_, np.asarray(theirs.cluster_centers_), atol=1e-6)
    goal = {"dask-ml": GOALS["dask-ml"]}
    results = [entry("KMeans(20)", interleaved(runs, rounds), goal, "same centres" if same else "CENTRES DIFFER")]
    bayes = {
        "latently": lambda: [seconds(lambda: GaussianNB().fit(array, y))],
        "dask-ml": lambda: [seconds(lambda: _means(TheirNB().fit(array, y)))],
    }
    same = np.allclose(GaussianNB().fit(array, y).theta_, _means(TheirNB().fit(array, y)), rtol=1e-9)
    return [*results, entry("GaussianNB, a fit", interleaved(bayes, rounds), goal, "same means" if same else "DIFFERS")]


def _means(model: Any) -> np.ndarray:
    return np.asarray(model.theta_)  # lazy until somebody looks


def against_spark(client: Any, X: np.ndarray, rounds: int, python: str) -> list[dict[str, Any]]:
    """MLlib in local mode on as many cores, reading the same rows from Parquet once and caching them."""
    import dask.array as da
    import pandas as pd

    from latently.data.dask.source import dask_source

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)]).to_parquet(path, row_group_size=CHUNK)
        program = Path(__file__).with_name("spark_fit.py")
        command = [python, str(program), str(path), str(WORKERS), str(SHORT), str(LONG), str(rounds)]
        out = subprocess.run(command, capture_output=True, text=True, check=False)
    if out.returncode:
        print("Spark did not run:", out.stderr.strip().splitlines()[-1])
        return []
    spark = json.loads(out.stdout.strip().splitlines()[-1])
    source = dask_source(da.from_array(X, chunks=(CHUNK, COLUMNS)))
    results = []
    for name, key, make in (("KMeans(20)", "kmeans", our_kmeans), ("GaussianMixture(10)", "mixture", our_mixture)):
        ours = interleaved({"latently": short_and_long(lambda n, make=make: make(X, n), source)}, rounds)
        results.append(entry(name, {**ours, "spark": spark[key]}, {"spark": GOALS["spark"]}))
    return results


def warm_up() -> None:
    """Compile, here and on the workers, before the clock starts."""
    import dask.array as da

    from latently.predict import GaussianNB

    small = make_rows(200_000)
    spread = da.from_array(small, chunks=(50_000, COLUMNS))
    for make in (our_mixture, our_kmeans):
        for data in (small, spread):
            make(small, 2).fit(data)
    GaussianNB().fit(spread, (spread[:, 0] > 0).astype(int))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["threads", "dask-ml", "spark"])
    parser.add_argument("--spark-python", help="a Python with pyspark; without it Spark is left out")
    parser.add_argument("--json", type=Path, help="where to write the results")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    from distributed import Client, LocalCluster

    X = make_rows(asked.rows)
    results = {}
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as c:
        warm_up()
        if asked.only in (None, "threads"):
            results["threads"] = against_threads(c, X, asked.rounds)
        if asked.only in (None, "dask-ml"):
            results["dask-ml"] = against_dask_ml(c, X, asked.rounds)
        if asked.spark_python and asked.only in (None, "spark"):
            results["spark"] = against_spark(c, X, asked.rounds, asked.spark_python)
    if asked.json:
        asked.json.write_text(json.dumps({"rows": asked.rows, "chunk": CHUNK, **results}, indent=1))


if __name__ == "__main__":
    main()
