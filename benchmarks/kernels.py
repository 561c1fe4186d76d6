"""Kernels on structures: how long whole calls take.

python -m benchmarks.kernels
"""

import sys
import time

import numpy as np

from latently.kernel import NGramKernel, SubsequenceKernel, TreeKernel

Tree = tuple


def strings(n: int, length: int, symbols: int) -> list[str]:
    letters = np.random.default_rng(0).integers(0, symbols, (n, length))
    return ["".join(chr(97 + c) for c in row) for row in letters]


def tree(rng: np.random.Generator, size: int) -> Tree:
    """A random binary parse tree of about 2 `size` - 1 inner nodes and leaves."""
    if size <= 1:
        return (str(rng.choice(list("DNVP"))), str(rng.choice(list("abcdefgh"))))
    left = int(rng.integers(1, size))
    return (str(rng.choice(list("ABC"))), tree(rng, left), tree(rng, size - left))


def seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> int:
    rng = np.random.default_rng(0)
    trees = [tree(rng, 10) for _ in range(1000)]  # 30 nodes with their leaves
    NGramKernel(3)(["abc", "abd"])
    TreeKernel()(trees[:2])
    SubsequenceKernel(3)(["abc", "abd"])
    few, many, short = strings(5000, 1000, 4), strings(5000, 1000, 26), strings(200, 200, 26)
    contests = [
        ("n-grams, n = 3, 5000 strings of 1000, 4 symbols", lambda: NGramKernel(3)(few), 5.0),
        ("n-grams, n = 3, 5000 strings of 1000, 26 symbols", lambda: NGramKernel(3)(many), 5.0),
        ("n-grams, n = 5, 5000 strings of 1000, 26 symbols", lambda: NGramKernel(5)(many), 5.0),
        ("tree kernel, 1000 x 1000 trees of 30 nodes", lambda: TreeKernel()(trees, trees), 10.0),
        ("subsequences, n = 4, 200 strings of 200", lambda: SubsequenceKernel(4)(short), 10.0),
    ]
    missed = 0
    for name, call, goal in contests:
        took = min(seconds(call) for _ in range(2))
        missed += took > goal
        print(f"{name:55s} {took:7.2f} s   goal {goal:.0f} s{'   MISSED' if took > goal else ''}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
