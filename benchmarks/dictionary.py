"""Dictionary learning beside scikit-learn: 8 x 8 patches of a photograph, 100 atoms, the same number of iterations.

    python -m benchmarks.dictionary [--rows 20000] [--max-iter 3] [--algorithms cd lars]

Exit 1 on a missed goal, or if the objectives differ.
"""

import argparse
import sys
import time
import warnings
from typing import Any

from sklearn.datasets import load_sample_image
from sklearn.decomposition import DictionaryLearning as Peer
from sklearn.feature_extraction.image import extract_patches_2d

from latently.factor import DictionaryLearning

GOAL = 3.0


def patches(n: int) -> Any:
    """(n, 64) patches without their mean."""
    image = load_sample_image("china.jpg").mean(axis=2) / 255
    P = extract_patches_2d(image, (8, 8), max_patches=n, random_state=0).reshape(n, -1)
    P = P - P.mean(axis=1, keepdims=True)
    return P / P.std()


def timed(model: Any, X: Any) -> tuple[float, Any]:
    begin = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - begin, model


def contest(algorithm: str, X: Any, max_iter: int) -> bool:
    options: dict[str, Any] = {"max_iter": max_iter, "fit_algorithm": algorithm, "random_state": 0}
    DictionaryLearning(100, **options).fit(X[:200])  # compiles
    ours, mine = timed(DictionaryLearning(100, **options), X)
    theirs, peer = timed(Peer(100, **options), X)
    gap = mine.error_[-1] / peer.error_[-1] - 1
    met = theirs / ours >= GOAL and gap < 1e-4
    objectives = f"objective {mine.error_[-1]:.2f} against {peer.error_[-1]:.2f}"
    print(
        f"{'met   ' if met else 'MISSED'} {algorithm:<5} {len(X)} rows, {max_iter} iterations: {ours:.2f} s against "
        f"{theirs:.2f} s, {theirs / ours:.1f}x (goal {GOAL}); {objectives}",
        flush=True,
    )
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--max-iter", type=int, default=3)
    parser.add_argument("--algorithms", nargs="+", default=["cd", "lars"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X = patches(options.rows)
    met = [contest(name, X, options.max_iter) for name in options.algorithms]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
