"""Detectors beside scikit-learn: one-class SVM and SVDD beside libsvm, kernel density beside its trees.

python -m benchmarks.detectors [--quick]
"""

import sys
import time

import numpy as np
from sklearn import neighbors, svm

from latently.detect import SVDD, KernelDensity, OneClassSVM


def timed(call):
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def best(call, peer, rounds: int):
    """Interleaved, the best of several."""
    pairs = [(timed(call), timed(peer)) for _ in range(rounds)]
    ours, theirs = min(p[0][0] for p in pairs), min(p[1][0] for p in pairs)
    return ours, theirs, pairs[-1][0][1], pairs[-1][1][1]


def dual_objective(peer, X) -> float:
    """1/2 a'Ka of scikit-learn's solution, a block of rows at a time."""
    weights, rows = peer.dual_coef_[0], peer.support_vectors_
    total = 0.0
    for first in range(0, len(rows), 500):
        gaps = ((rows[first : first + 500, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
        total += weights[first : first + 500] @ (np.exp(-peer._gamma * gaps) @ weights)
    return 0.5 * float(total)


def boundary(n: int, d: int, nu: float, goal: float, rounds: int) -> bool:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)) + 4.0 * (rng.random((n, 1)) < 0.5)
    ours, theirs, model, peer = best(lambda: OneClassSVM(nu=nu).fit(X), lambda: svm.OneClassSVM(nu=nu).fit(X), rounds)
    expected = dual_objective(peer, X)
    gap = abs(model.objective_ / expected - 1)
    ball = min(timed(lambda: SVDD(nu=nu).fit(X))[0] for _ in range(rounds))
    fine = theirs / ours >= goal and theirs / ball >= goal and gap < 1e-6
    print(
        f"one-class SVM, n = {n:6d}, d = {d:2d}, nu = {nu:4.2f}: {ours:6.3f} s, libsvm {theirs:6.3f} s, ratio "
        f"{theirs / ours:4.1f}, SVDD {theirs / ball:4.1f} (goal {goal:.0f}); dual objectives differ by {gap:.1e}"
        f"{'' if fine else '   MISSED'}"
    )
    return fine


def density(n: int, d: int, goal: float) -> bool:
    rng = np.random.default_rng(0)
    X, asked = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    width = n ** (-1 / (d + 4))
    model = KernelDensity(bandwidth=width, rtol=1e-4).fit(X)
    ours, found = timed(lambda: model.score_samples(asked))
    peer = neighbors.KernelDensity(bandwidth=width, rtol=1e-4).fit(X)
    some = max(n // 50, 100)  # the peer is asked about a fiftieth
    theirs, peer_scores = timed(lambda: peer.score_samples(asked[:some]))
    theirs *= n / some
    exact = KernelDensity(bandwidth=width).fit(X).score_samples(asked[:some])
    error, other = (float(np.abs(np.expm1(values[:some] - exact)).max()) for values in (found, peer_scores))
    fine = theirs / ours >= goal and error <= 1e-4
    print(
        f"kernel density, {n} against {n}, d = {d}: {ours:6.2f} s, scikit-learn {theirs:7.1f} s (from a part), ratio "
        f"{theirs / ours:5.1f} (goal {goal:.0f}); relative errors {error:.1e} and {other:.1e}"
        f"{'' if fine else '   MISSED'}"
    )
    return fine


def main(quick: bool) -> int:
    warm = np.random.default_rng(0).normal(size=(2000, 4))
    OneClassSVM().fit(warm), SVDD().fit(warm), KernelDensity(rtol=1e-4).fit(warm).score_samples(warm[:100])
    large = 8000 if quick else 20_000
    fine = [boundary(n, d, nu, 1 if n == 5000 else 2, 2) for n in (5000, large) for d in (4, 10) for nu in (0.05, 0.5)]
    fine += [density(20_000 if quick else 100_000, d, 5) for d in (3, 6)]
    return int(not all(fine))


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv))
