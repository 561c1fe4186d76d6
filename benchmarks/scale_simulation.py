"""The tree of additions on a simulated cluster: how the time of one sum grows with workers and with chunks.

    python -m benchmarks.scale_simulation
    python -m benchmarks.scale_simulation --measure     # what tasks and rows cost here, on a real local cluster

The simulation runs the library's own tree (`latently.learn.engine.tree`) on small statistics, one for each chunk, and
keeps a clock for every worker: an addition cannot begin before its inputs have crossed a network with a given latency
and bandwidth, and the scheduler hands out one task at a time. It must come to the same bits for every number of
workers.
Beside the tree it times what a client would take that collects everything itself.
"""

import argparse
import json
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from latently.learn.dask.reduce import FAN_IN
from latently.learn.engine.tree import Nodes, joined, plant, root


@dataclass(frozen=True)
class Network:
    """What things cost, in seconds and bytes per second."""

    latency: float = 1e-3  # from one machine to another, with Dask's own share in it
    bandwidth: float = 1e9
    dispatch: float = 2.5e-4  # of the scheduler, for each task
    chunk: float = 2e-3  # work on one chunk
    addition: float = 2e-5  # of two statistics


@dataclass(frozen=True)
class Ready:
    """Nodes of the tree on a worker, and when they are there."""

    at: float
    worker: int
    nodes: Nodes


class Cluster:
    """Clocks of the workers and of the scheduler."""

    def __init__(self, workers: int, size: int, costs: Network) -> None:
        self.free = np.zeros(workers)
        self.scheduler = 0.0
        self.size, self.costs = size, costs
        self.tasks = self.bytes = 0

    def run(self, worker: int, inputs: list[Ready], work: float) -> float:
        """Do a task on a worker once its inputs are there; when it is done."""
        costs = self.costs
        self.scheduler = max(self.scheduler, max((i.at for i in inputs), default=0.0)) + costs.dispatch
        begin = max(self.scheduler + costs.latency, self.free[worker])
        moved = sum(len(i.nodes) for i in inputs if i.worker != worker) * self.size
        if moved:
            begin += costs.latency + moved / costs.bandwidth
        self.tasks, self.bytes = self.tasks + 1, self.bytes + moved
        self.free[worker] = begin + work
        return float(self.free[worker])


def leaves_of(cluster: Cluster, values: np.ndarray, workers: int) -> list[Ready]:
    """Every worker sums its own chunks, in one task, as the library has it."""
    ready = []
    for worker, mine in enumerate(np.array_split(np.arange(len(values)), workers)):
        nodes: Nodes = {}
        for leaf in mine:
            plant(nodes, (0, int(leaf)), values[leaf], len(values))
        ready.append(Ready(cluster.run(worker, [], cluster.costs.chunk * len(mine)), worker, nodes))
    return ready


def by_tree(values: np.ndarray, workers: int, size: int, costs: Network) -> tuple[float, float, Cluster]:
    """Seconds and value of a sum by the tree."""
    cluster = Cluster(workers, size, costs)
    level = leaves_of(cluster, values, workers)
    while len(level) > FAN_IN:
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        level = [_join(cluster, group, len(values)) for group in groups]
    return _collected(cluster, level, len(values))


def _join(cluster: Cluster, group: list[Ready], leaves: int) -> Ready:
    nodes = joined(leaves, *(part.nodes for part in group))
    work = cluster.costs.addition * (sum(len(part.nodes) for part in group) - 1)
    return Ready(cluster.run(group[0].worker, group, work), group[0].worker, nodes)


def by_client(values: np.ndarray, workers: int, size: int, costs: Network) -> tuple[float, float, Cluster]:
    """Seconds and value of a sum that the client makes of everything the workers have."""
    cluster = Cluster(workers, size, costs)
    return _collected(cluster, leaves_of(cluster, values, workers), len(values))


def _collected(cluster: Cluster, level: list[Ready], leaves: int) -> tuple[float, float, Cluster]:
    """The client takes in one part after the other."""
    clock, costs = 0.0, cluster.costs
    for part in sorted(level, key=lambda part: part.at):
        moved = len(part.nodes) * cluster.size
        clock = max(clock, part.at + costs.latency) + moved / costs.bandwidth + costs.addition * len(part.nodes)
        cluster.bytes += moved
    return clock, root(joined(leaves, *(part.nodes for part in level))), cluster


def table(sizes: list[int], chunks_per_worker: int, size: int, costs: Network) -> list[dict[str, Any]]:
    """Weak scaling: so many chunks for each worker, and more and more workers."""
    lines = []
    for workers in sizes:
        values = np.random.default_rng(0).normal(size=workers * chunks_per_worker)
        tree, total, cluster = by_tree(values, workers, size, costs)
        flat, other, _ = by_client(values, workers, size, costs)
        _, reference, _ = by_tree(values, max(workers // 7, 1), size, costs)
        if not total == other == reference:
            raise AssertionError(f"{workers} workers come to {total!r}, others to {other!r} and {reference!r}")
        work = costs.chunk * chunks_per_worker
        lines.append({"workers": workers, "tasks": cluster.tasks, "bytes": cluster.bytes, "work": work,
                      "tree": tree - work, "client": flat - work})  # fmt: skip
    return lines


def growth(lines: list[dict[str, Any]], key: str) -> tuple[float, float]:
    """Of what the reduction adds to the work: slope against log2(workers), and exponent of a power of workers."""
    w, t = np.array([line["workers"] for line in lines]), np.array([line[key] for line in lines])
    return float(np.polyfit(np.log2(w), t, 1)[0]), float(np.polyfit(np.log(w), np.log(t), 1)[0])


def simulate(size: int) -> list[dict[str, Any]]:
    """Print how the tree and a collecting client grow: with a scheduler that costs nothing, and with Dask's."""
    found = []
    for name, costs in (("network alone", Network(dispatch=0.0)), ("network and scheduler", Network())):
        lines = table([4, 16, 64, 256, 1024, 4096], 16, size, costs)
        print(f"\n{name}: statistics of {size} bytes, seconds on top of {lines[0]['work']:.3f} s of work")
        print(f"{'workers':>8}{'tasks':>8}{'MB moved':>10}{'tree s':>10}{'client s':>10}")
        for line in lines:
            moved = line["bytes"] / 1e6
            print(f"{line['workers']:>8}{line['tasks']:>8}{moved:>10.1f}{line['tree']:>10.4f}{line['client']:>10.4f}")
        for key in ("tree", "client"):
            slope, power = growth(lines, key)
            print(
                f"{key:>8}: {slope * 1e3:.2f} ms for each doubling of the workers; as a power of workers: {power:.2f}"
            )
        found.append(
            {"name": name, "lines": lines, "power": {key: growth(lines, key)[1] for key in ("tree", "client")}}
        )
    return found


def measure(workers: int, rows: int) -> dict[str, float]:
    """What a sum costs on a local cluster: a constant, for each task, and for each row of a Gaussian mixture."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from latently.cluster import GaussianMixture
    from latently.data.dask.source import dask_source
    from latently.learn import reducing

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        times = {}
        for parts in (4, 16, 64, 256):
            source = dask_source(da.ones((parts * 10, 2), chunks=(10, 2)))
            with reducing(source) as reduce:
                # a task for each part, as if every part had a worker
                reduce._placed = (math.inf, [([i], holder) for i, holder in enumerate(source.holders())])
                reduce(len_of)
                times[parts] = min(_seconds(reduce) for _ in range(5))
        per_task, constant = np.polyfit(list(times), list(times.values()), 1)
        X = da.random.default_rng(0).normal(size=(rows, 10), chunks=(100_000, 10)).persist()
        init = {"means_init": X[:10].compute(), "weights_init": np.full(10, 0.1)}
        init["precisions_init"] = np.tile(np.eye(10), (10, 1, 1))
        source, fits = dask_source(X), {}
        for iterations in (2, 12, 2, 12):
            start = time.perf_counter()
            GaussianMixture(10, tol=0.0, max_iter=iterations, **init).fit(source)
            fits[iterations] = min(time.perf_counter() - start, fits.get(iterations, math.inf))
    per_iteration = (fits[12] - fits[2]) / 10
    per_row = (per_iteration - constant) * workers / rows
    return {"constant": float(constant), "per_task": float(per_task), "per_row_and_core": float(per_row)}


def len_of(chunk: Any) -> int:
    return int(chunk.n_rows)


def _seconds(reduce: Any) -> float:
    start = time.perf_counter()
    reduce(len_of)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=9_000, help="size of the statistics of one chunk")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--json")
    asked = parser.parse_args()
    found: dict[str, Any] = {"simulated": simulate(asked.bytes)}
    if asked.measure:
        import warnings

        warnings.simplefilter("ignore")
        found["measured"] = measure(asked.workers, asked.rows)
        print("\nmeasured:", {name: f"{value:.3g} s" for name, value in found["measured"].items()})
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
