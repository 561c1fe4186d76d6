"""Everything about a hidden Markov chain by enumeration of all paths."""

import itertools
from types import SimpleNamespace

import numpy as np


def enumerate_paths(start, A, b):
    """Joint probabilities of all paths, and what follows from them; A (K, K), or (T, K, K) into each row."""
    T, K = b.shape
    A = np.broadcast_to(A, (T, K, K))
    paths = np.array(list(itertools.product(range(K), repeat=T)))
    joint = start[paths[:, 0]] * b[0, paths[:, 0]]
    for t in range(1, T):
        joint = joint * A[t, paths[:, t - 1], paths[:, t]] * b[t, paths[:, t]]
    total = joint.sum()
    posterior = np.array([[joint[paths[:, t] == k].sum() for k in range(K)] for t in range(T)]) / total
    moves = np.zeros((K, K))
    for path, p in zip(paths, joint / total, strict=True):
        np.add.at(moves, (path[:-1], path[1:]), p)
    order = np.argsort(-joint, kind="stable")
    return SimpleNamespace(
        log_likelihood=np.log(total), posterior=posterior, moves=moves, paths=paths[order], joint=joint[order]
    )


def random_chain(rng, K, T, zeros=False):
    start, A = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), size=K)
    if zeros:
        A = np.where(rng.uniform(size=A.shape) < 0.3, 0.0, A) + 1e-9 * np.eye(K)
        A /= A.sum(axis=1, keepdims=True)
    return start, A, rng.gamma(1.0, size=(T, K))
