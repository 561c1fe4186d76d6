"""Usage: python -m benchmarks.whole_calls [PART_OF_NAME ...] [--json FILE]

Whole calls as users make them: default settings, `fit` with its start, then `predict`; small tables and large ones,
clusters that are apart and clusters that overlap. Ratios are peer's time / ours, the best of several interleaved runs.
A fit counts only if its objective is no worse than the peer's. Exits with 1 if a row is slower than the peer, if an
objective is worse, or if the geometric mean is below its goal.
"""

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hmmlearn.hmm
import numpy as np
import sklearn.cluster
import sklearn.mixture
import sklearn.naive_bayes

from latently import cluster, predict, sequence

GOAL_MEAN, GOAL_ROW = 8.0, 1.0
SECONDS, LEAST, MOST = 1.0, 3, 30
WORSE = 1e-3  # an objective may be this much worse, relative to its size


@dataclass(frozen=True)
class Call:
    """A pair of estimators, a verb, and the data; `objective` is better where it is higher."""

    name: str
    verb: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    data: Callable[[], tuple[Any, ...]]
    objective: Callable[[Any, tuple[Any, ...]], float]


@dataclass(frozen=True)
class Row:
    """What was measured of one call."""

    name: str
    ours: float
    peer: float
    ratio: float
    gap: float


def blobs(n: int, d: int, k: int, apart: float) -> tuple[np.ndarray]:
    """Gaussian clusters of unit variance whose centres are `apart` from each other, more or less."""
    rng = np.random.default_rng(n + d + k)
    centres = rng.normal(size=(k, d)) * apart / math.sqrt(2 * d)
    return (centres[rng.integers(k, size=n)] + rng.normal(size=(n, d)),)


def labelled(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the class of each."""
    rng = np.random.default_rng(n)
    y = rng.integers(k, size=n)
    return rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


def walk(n: int, d: int, k: int, apart: float) -> tuple[np.ndarray]:
    """A sequence of Gaussian rows whose state stays for ten steps or so."""
    rng = np.random.default_rng(n)
    states = np.cumsum(rng.uniform(size=n) < 0.1) * 7919 % k
    centres = rng.normal(size=(k, d)) * apart / math.sqrt(2 * d)
    return (centres[states] + rng.normal(size=(n, d)),)


def pair(name: str, verb: str, data: Callable[..., tuple[Any, ...]], *shape: Any) -> Call:
    """Give the call of an estimator by name, on data of a shape (rows, columns, components, distance)."""
    k = shape[2]
    kinds: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[Any, tuple[Any, ...]], float]]] = {
        "KMeans": (
            lambda: cluster.KMeans(k, random_state=0),
            lambda: sklearn.cluster.KMeans(k, random_state=0),
            lambda m, data: m.score(data[0]) / len(data[0]),
        ),
        "GaussianMixture": (
            lambda: cluster.GaussianMixture(k, random_state=0),
            lambda: sklearn.mixture.GaussianMixture(k, random_state=0),
            lambda m, data: m.score(data[0]),
        ),
        "GaussianHMM": (
            lambda: sequence.GaussianHMM(k, random_state=0),
            lambda: hmmlearn.hmm.GaussianHMM(k, random_state=0),
            lambda m, data: m.score(data[0]) / len(data[0]),
        ),
        "GaussianNB": (predict.GaussianNB, sklearn.naive_bayes.GaussianNB, lambda m, data: m.score(*data)),
    }
    label = " ".join(str(part) for part in (name, verb, *shape))
    return Call(label, verb, *kinds[name][:2], lambda: data(*shape), kinds[name][2])


def calls() -> list[Call]:
    """All of them."""
    both = ((6.0,), (2.0,))
    found = [
        pair("KMeans", verb, blobs, *shape, *apart)
        for shape in ((300, 4, 3), (20_000, 8, 8), (1_000_000, 6, 10))
        for apart in both
        for verb in ("fit", "predict")
    ]
    found += [
        pair("GaussianMixture", verb, blobs, *shape, *apart)
        for shape in ((300, 4, 3), (2_000, 100, 4), (80_000, 10, 6))
        for apart in both
        for verb in ("fit", "predict_proba")
    ]
    found += [
        pair("GaussianHMM", verb, walk, *shape, *apart)
        for shape in ((300, 2, 2), (20_000, 6, 4), (200_000, 3, 3))
        for apart in both
        for verb in ("fit", "predict")
    ]
    found += [
        pair("GaussianNB", verb, labelled, *shape)
        for shape in ((300, 4, 3), (100_000, 20, 5), (1_000_000, 8, 4))
        for verb in ("fit", "predict_proba")
    ]
    return found + other_calls()


def other_calls() -> list[Call]:
    """Calls of shapes that no kernel is made for."""
    wide = ((1_000, 300, 5), (2_000, 50, 20), (5_000, 100, 5), (20_000, 64, 50))
    found = [pair("KMeans", verb, blobs, *shape, 2.0) for shape in wide for verb in ("fit", "predict")]
    found += [pair("KMeans", "transform", blobs, *shape, 2.0) for shape in ((1_000, 300, 5), (20_000, 13, 20))]
    found += [pair("GaussianMixture", "predict", blobs, *shape, 6.0) for shape in ((300, 30, 3), (2_000, 300, 3))]
    found += [pair("GaussianMixture", "score_samples", blobs, 5_000, 64, 5, 6.0)]
    found += [pair("GaussianMixture", "fit", blobs, 5_000, 30, 20, 2.0)]
    found += [pair("GaussianNB", "fit", labelled, 1_000, 300, 2)]
    found += [pair("GaussianNB", "predict", labelled, 5_000, 100, 20)]
    return found


def ask(make: Callable[[], Any], verb: str, data: tuple[Any, ...]) -> Callable[[], Any]:
    """Give the call to be timed: a fit of a new estimator, or an answer of a fitted one."""
    if verb == "fit":
        return lambda: make().fit(*data)
    fitted = make().fit(*data)
    return lambda: getattr(fitted, verb)(data[0])


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came back."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def measure(call: Call) -> Row:
    """Best times of both, interleaved, until enough time was spent; and by how much our objective is worse."""
    data = call.data()
    runs = {"ours": ask(call.ours, call.verb, data), "peer": ask(call.peer, call.verb, data)}
    runs["ours"]()  # compiled before the clock starts
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    results: dict[str, Any] = {}
    while len(times["ours"]) < LEAST or (sum(times["peer"]) < SECONDS and len(times["ours"]) < MOST):
        for who, run in runs.items():
            seconds, results[who] = timed(run)
            times[who].append(seconds)
    ours, peer = min(times["ours"]), min(times["peer"])
    return Row(call.name, ours, peer, peer / ours, gap(call, results, data))


def gap(call: Call, results: dict[str, Any], data: tuple[Any, ...]) -> float:
    """By how much our fit is worse than the peer's, relative to the size of the objective; zero for answers."""
    if call.verb != "fit":
        return 0.0
    ours, peer = (call.objective(results[who], data) for who in ("ours", "peer"))
    return max(0.0, (peer - ours) / max(abs(peer), 1e-300))


def main(argv: list[str]) -> int:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole_calls")
    parser.add_argument("parts", nargs="*", help="parts of names")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/whole_calls.json"))
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    rows = []
    for call in calls():
        if not asked.parts or any(part in call.name for part in asked.parts):
            rows.append(measure(call))
            row = rows[-1]
            worse = f"  objective worse by {row.gap:.1e}" if row.gap > WORSE else ""
            print(
                f"{row.name:<48}{row.ours * 1e3:>10.2f} ms{row.peer * 1e3:>11.2f} ms{row.ratio:>8.1f}x{worse}",
                flush=True,
            )
    mean = math.exp(sum(math.log(row.ratio) for row in rows) / len(rows))
    least = min(row.ratio for row in rows)
    print(f"{len(rows)} calls: geometric mean {mean:.1f}x (goal {GOAL_MEAN:g}), least {least:.1f}x (goal {GOAL_ROW:g})")
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps({"mean": mean, "least": least, "rows": [asdict(row) for row in rows]}, indent=1))
    return int(mean < GOAL_MEAN or least < GOAL_ROW or any(row.gap > WORSE for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
