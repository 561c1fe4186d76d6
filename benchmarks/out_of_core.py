"""Fits from Parquet files larger than memory should be: peak memory, and the rate per row against memory.

    python -m benchmarks.out_of_core --rows 30_000_000 --folder /scratch/rows

writes a folder of Parquet files (kept, and used again), fits GaussianMixture and KMeans from it in a process of
their own each, and fits as many rows as memory holds for comparison. Both start from the same given parameters and
make the same number of iterations; the rate is rows times iterations over the time of the whole fit, opening,
counting and looking at the columns included.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

COLUMNS = 10
FILE_ROWS = 1_000_000
LIMIT_MB = 1500
MODELS = ("mixture", "kmeans")


def centres() -> np.ndarray:
    return np.random.default_rng(1).normal(scale=2.0, size=(20, COLUMNS))


def block(number: int, rows: int) -> np.ndarray:
    """Rows of one file: twenty overlapping clusters, so that a fit has work to do."""
    rng = np.random.default_rng([2, number])
    return centres()[rng.integers(20, size=rows)] + rng.normal(scale=1.5, size=(rows, COLUMNS))


def write(folder: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(-(-rows // FILE_ROWS)):
        path = folder / f"part-{number}.parquet"
        size = min(FILE_ROWS, rows - number * FILE_ROWS)
        if path.exists() and pq.read_metadata(path).num_rows == size:
            continue
        X = block(number, size)
        table = pa.table({f"x{j}": X[:, j] for j in range(COLUMNS)})
        # floats of noise neither compress nor repeat
        pq.write_table(table, path, compression="none", use_dictionary=False, row_group_size=131072)
    for path in folder.glob("part-*.parquet"):
        if int(path.stem.removeprefix("part-")) >= -(-rows // FILE_ROWS):
            path.unlink()


def made(model: str, iterations: int) -> object:
    from latently.cluster import GaussianMixture, KMeans

    start = centres() + 0.5
    if model == "kmeans":
        return KMeans(20, init=start, max_iter=iterations, tol=0)
    unit = np.tile(np.eye(COLUMNS), (10, 1, 1))
    given = {"weights_init": np.full(10, 0.1), "means_init": start[:10], "precisions_init": unit}
    return GaussianMixture(10, max_iter=iterations, tol=0, **given)


def timed(model: str, iterations: int, X: object, n_rows: int) -> dict[str, float]:
    warnings.simplefilter("ignore")
    made(model, 2).fit(block(0, 50_000))  # compiles, or loads what was compiled
    began = time.perf_counter()
    fitted = made(model, iterations).fit(X)
    seconds = time.perf_counter() - began
    rate = n_rows * fitted.n_iter_ / seconds
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"seconds": seconds, "iterations": fitted.n_iter_, "rate": rate, "peak_mb": peak}


def alone(model: str, iterations: int, folder: Path | None, rows: int) -> dict[str, float]:
    """Run in a process of its own, so that its peak memory is its own too."""
    command = [sys.executable, "-m", "benchmarks.out_of_core", "--run", model, "--iterations", str(iterations)]
    command += ["--rows", str(rows)] + ([] if folder is None else ["--folder", str(folder)])
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--memory-rows", type=int, default=2_000_000, help="rows of the fit in memory")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many runs counts")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--run", choices=MODELS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        X = block(0, given.rows) if given.folder is None else given.folder
        print(json.dumps(timed(given.run, given.iterations, X, given.rows)))
        return
    folder = given.folder or Path(tempfile.mkdtemp(prefix="out_of_core_"))
    write(folder, given.rows)
    report = {}
    print(f"{given.rows:,} rows x {COLUMNS} from {folder}; {given.memory_rows:,} rows in memory")
    for model in MODELS:
        runs = [
            (
                alone(model, given.iterations, None, given.memory_rows),
                alone(model, given.iterations, folder, given.rows),
            )
            for _ in range(given.repeats)
        ]
        memory, disk = (max(column, key=lambda run: run["rate"]) for column in zip(*runs, strict=True))
        share, peak = disk["rate"] / memory["rate"], max(run["peak_mb"] for _, run in runs)
        report[model] = {"memory": memory, "disk": disk, "share_of_rate": share, "peak_mb": peak}
        print(
            f"{model:8} memory {memory['rate'] / 1e6:6.1f} M rows/s  disk {disk['rate'] / 1e6:6.1f} M rows/s  "
            f"share {share:.2f} (at least 0.5)  peak {peak:.0f} MB (at most {LIMIT_MB})"
        )
    if given.json:
        given.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
