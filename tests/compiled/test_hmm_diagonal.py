"""Densities, and the two walks, of a block by itself."""

import numpy as np

from latently import compiled


def passed(X, means, A, *todo):
    (K, d), n = means.shape, len(X)
    tile = compiled.sequence.diagonal.TILE
    tiles = -(-n // tile)
    b, p, g = (np.full(tiles * (K + 1) * tile, np.nan) for _ in range(3))
    entries, ends = np.zeros((2, 2, K)), np.zeros((2, 2, K))
    entries[0, 0], ends[0, 1] = 1 / K, 1.0
    sums, told, scratch = np.empty((1, 2 + K + 2 * d, K)), np.empty((1, 4)), np.full((3 * K + 1 + d) * tile, np.nan)
    densities = (means, np.full((K, d), np.sqrt(0.5)), np.zeros(K))
    at = np.ascontiguousarray(A.T)
    compiled.sequence.diagonal.pass_block(
        *todo, 0, X, densities, A, at, (0.0,) * K, b, p, g, entries, ends, scratch, sums, told
    )
    rows = [x.reshape(tiles, K + 1, tile).transpose(0, 2, 1).reshape(-1, K + 1)[:n] for x in (b, p, g)]
    return rows, entries, ends, sums[0], told[0]


def test_densities_are_exponentials_to_the_last_bits():
    X = np.linspace(0, 45, 1000)[:, None]
    means = np.array([[0.0], [20.0]])
    (b, _, _), *_, told = passed(X, means, np.full((2, 2), 0.5), True, False, False, False)
    L = -0.5 * (X - means.T) ** 2
    np.testing.assert_allclose(b[:, :2], np.exp(L - L.max(axis=1, keepdims=True)), rtol=1e-15 * 800)
    np.testing.assert_allclose(b[:, 2], L.max(axis=1), rtol=1e-14)
    np.testing.assert_allclose(told[0], L.max(axis=1).sum(), rtol=1e-12)


def test_what_would_underflow_is_as_small_as_can_be_but_not_zero():
    (b, *_), *_ = passed(np.array([[0.0], [1e6]]), np.array([[0.0], [1e6]]), np.eye(2), True, False, False, False)
    np.testing.assert_array_equal(b[:, :2] == 1.0, np.eye(2, dtype=bool))
    assert 0 < b[:, :2].min() < 1e-307


def test_a_walk_is_the_recursion():
    rng = np.random.default_rng(0)
    X, means, A = rng.normal(size=(150, 2)), rng.normal(size=(3, 2)), rng.dirichlet(np.ones(3), size=3)
    (b, p, g), entries, ends, sums, told = passed(X, means, A, True, True, True, True)
    row, log = np.full(3, 1 / 3), 0.0
    for t in range(150):
        np.testing.assert_allclose(p[t, :3] / p[t, :3].sum(), row, rtol=1e-9)
        row = row * b[t, :3]
        log += np.log(row.sum())
        row = row / row.sum() @ A
    np.testing.assert_allclose(entries[0, 1], row, rtol=1e-9)
    assert np.isclose(told[1], log, rtol=1e-12)
    row = np.ones(3)
    for t in reversed(range(150)):
        np.testing.assert_allclose(g[t, :3] / g[t, :3].sum(), row / row.sum(), rtol=1e-9)
        row = A @ (row * b[t, :3])
        row /= row.sum()
    np.testing.assert_allclose(ends[0, 0], row, rtol=1e-9)
    posterior = p[:, :3] * b[:, :3] * g[:, :3]
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(sums[0], posterior.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(sums[1], posterior[0], rtol=1e-10)
    np.testing.assert_allclose(sums[2:5].sum(), 149, rtol=1e-10)
    np.testing.assert_allclose(sums[5:7].T, [posterior[:, k] @ (X - means[k]) for k in range(3)], rtol=1e-8, atol=1e-9)
