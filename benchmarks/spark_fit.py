"""Seconds per iteration of Spark MLlib in local mode, as JSON: python spark_fit.py PARQUET CORES SHORT LONG ROUNDS.

Run by benchmarks.dask_compare with a Python that has pyspark.
"""

import json
import sys
import time

from pyspark.ml.clustering import GaussianMixture, KMeans
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession


def per_iteration(make, table, short, long):
    """Cost of an iteration, by the iterations that were really made."""
    seconds, counts = [], []
    for iterations in (short, long):
        start = time.perf_counter()
        fitted = make(iterations).fit(table)
        seconds.append(time.perf_counter() - start)
        counts.append(fitted.summary.numIter)
    return (seconds[1] - seconds[0]) / max(counts[1] - counts[0], 1)


def main(path, cores, short, long, rounds):
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "6g")
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.read.parquet(path)
    table = VectorAssembler(inputCols=rows.columns, outputCol="features").transform(rows).select("features").cache()
    table.count()
    makers = {
        "kmeans": lambda n: KMeans(k=20, maxIter=n, tol=0.0, initMode="random", seed=0),
        "mixture": lambda n: GaussianMixture(k=10, maxIter=n, tol=0.0, seed=0),
    }
    numbers = (int(short), int(long))
    best = {key: min(per_iteration(make, table, *numbers) for _ in range(int(rounds))) for key, make in makers.items()}
    print(json.dumps(best))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
