"""Usage: python -m benchmarks.memory [--rows 4000000]

The most memory that a Gaussian mixture's fit takes: at most 1.3 times the data and 100 MB beyond the interpreter.
"""

import argparse
import subprocess
import sys

CODE = """
import resource, sys, warnings
import numpy as np
from latently.cluster import GaussianMixture
warnings.simplefilter("ignore")
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rng = np.random.default_rng(0)
GaussianMixture(3, max_iter=2).fit(rng.normal(size=(1000, 10)))
before = peak()
X = np.empty((int(sys.argv[1]), 10))
for part in np.array_split(X, 100):
    part[:] = rng.normal(size=part.shape) + rng.integers(10, size=(len(part), 1))
GaussianMixture(10, max_iter=5, random_state=0).fit(X)
print(X.nbytes / 1e6, peak() * 1.048576 - before * 1.048576)
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("--rows", type=int, default=4_000_000)
    rows = parser.parse_args().rows
    done = subprocess.run([sys.executable, "-c", CODE, str(rows)], capture_output=True, text=True, check=True)
    data, taken = (float(word) for word in done.stdout.split())
    limit = 1.3 * data + 100
    print(f"data {data:.0f} MB, most memory for data and fit {taken:.0f} MB, limit {limit:.0f} MB")


if __name__ == "__main__":
    main()
