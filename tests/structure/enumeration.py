"""Small problems whose outputs are all listed, with Psi written out by loops: what everything is compared with."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize

from latently.structure import ChainModel, GraphModel, MulticlassModel, MultilabelModel, TreeModel

HIERARCHY = {"cat": "pet", "dog": "pet", "pet": None, "car": None}


@dataclass(frozen=True)
class Toy:
    """A model, its items, their outputs as numbers of labels, and the edges of each item."""

    name: str
    model: Any
    X: Any
    y: Any
    features: list[Any]  # (nodes, d) of each item, with the column of ones
    codes: list[Any]  # numbers of the labels of y
    edges: list[Any]  # (first, second, kind) of each item
    basis: Any  # (T, K, V): what columns of W a label of the t-th node has
    n_kinds: int

    @property
    def size(self):
        V, K = self.basis.shape[2], self.basis.shape[1]
        return self.features[0].shape[1] * V + self.n_kinds * K * K

    def psi(self, item, codes):
        K, V = self.basis.shape[1:]
        W, P = np.zeros((self.features[item].shape[1], V)), np.zeros((self.n_kinds, K, K))
        for node, label in enumerate(codes):
            for v in range(V):
                W[:, v] += self.features[item][node] * self.basis[node % len(self.basis), label, v]
        for a, b, kind in self.edges[item]:
            P[kind, codes[a], codes[b]] += 1
        return np.concatenate([W.ravel(), P.ravel()])

    def outputs(self, item):
        return list(product(range(self.basis.shape[1]), repeat=len(self.codes[item])))

    def loss(self, codes, other):
        if self.name == "hierarchy":
            up = self.basis[0]
            return float(np.abs(up[codes[0]] - up[other[0]]).sum())
        return float(sum(a != b for a, b in zip(codes, other, strict=True)))

    def table(self, item):
        """Psi (outputs, size) and losses (outputs,) of all outputs of an item, and Psi of the true one."""
        outputs = self.outputs(item)
        psi = np.array([self.psi(item, y) for y in outputs])
        return psi, np.array([self.loss(self.codes[item], y) for y in outputs]), self.psi(item, self.codes[item])


def ones(rows):
    return np.column_stack([rows, np.ones(len(rows))])


def plain(K):
    return np.eye(K)[None]


def chain(rng, n=5, K=3, d=2):
    lengths = rng.integers(1, 4, size=n)
    X = [rng.normal(size=(m, d)) for m in lengths]
    y = [np.array(["a", "b", "c"])[rng.integers(0, K, size=m)] for m in lengths]
    y[0] = np.array(["a", "b", "c"])[: len(y[0])]
    names = np.unique(np.concatenate(y))
    codes = [np.searchsorted(names, own) for own in y]
    edges = [[(t - 1, t, 0) for t in range(1, m)] for m in lengths]
    return Toy("chain", ChainModel(), X, y, [ones(x) for x in X], codes, edges, plain(len(names)), 1)


def tree(rng, n=4, K=2, d=2):
    parents = [np.array([1, -1, 1, 2]), np.array([-1, 0, 0]), np.array([-1]), np.array([2, 0, -1, 2])][:n]
    X = [(rng.normal(size=(len(p), d)), p) for p in parents]
    y = [rng.integers(0, K, size=len(p)) for p in parents]
    y[0][:2] = 0, 1
    edges = [[(p, t, 0) for t, p in enumerate(own) if p >= 0] for own in parents]
    return Toy("tree", TreeModel(), X, y, [ones(x) for x, _ in X], y, edges, plain(K), 1)


def graph(rng, n=3, d=2):
    rings = [np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]), np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])]
    rings += [np.array([[2, 1], [0, 2]])]
    sizes = [4, 4, 3]
    X = [(rng.normal(size=(m, d)), e) for m, e in zip(sizes, rings, strict=True)][:n]
    y = [rng.integers(0, 2, size=m) for m in sizes][:n]
    y[0][:2] = 0, 1
    edges = [[(a, b, 0) for a, b in e] for e in rings]
    return Toy("graph", GraphModel(), X, y, [ones(x) for x, _ in X], y, edges, plain(2), 1)


def grid(rng, n=2, d=2):
    X = [rng.normal(size=(2, 3, d)) for _ in range(n)]
    y = [rng.integers(0, 2, size=(2, 3)) for _ in range(n)]
    y[0][0, :2] = 0, 1
    edges = [(0, 1, 0), (1, 2, 0), (3, 4, 0), (4, 5, 0), (0, 3, 1), (1, 4, 1), (2, 5, 1)]
    flat = [own.ravel() for own in y]
    return Toy("grid", GraphModel(), X, y, [ones(x.reshape(6, d)) for x in X], flat, [edges] * n, plain(2), 2)


def multiclass(rng, n=8, d=2):
    X, y = rng.normal(size=(n, d)), np.arange(n) % 3
    return Toy("multiclass", MulticlassModel(), X, y, [ones(x[None]) for x in X], y[:, None], [[]] * n, plain(3), 0)


def hierarchy(rng, n=8, d=2):
    X, codes = rng.normal(size=(n, d)), np.arange(n) % 3
    y = np.array(["car", "cat", "dog"])[codes]
    basis = np.array([[[1.0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]])  # car, cat, pet, dog: in the order they are met
    model = TreeModel(HIERARCHY)
    return Toy("hierarchy", model, X, y, [ones(x[None]) for x in X], codes[:, None], [[]] * n, basis, 0)


def multilabel(rng, n=5, L=3, d=2, full=False):
    X, y = rng.normal(size=(n, d)), rng.integers(0, 2, size=(n, L))
    edges = [(0, 1, 0), (0, 2, 1), (1, 2, 2)] if full else [(0, 1, 0), (1, 2, 1)]
    basis = np.zeros((L, 2, L))
    basis[np.arange(L), 1, np.arange(L)] = 1.0
    model = MultilabelModel(edges="full" if full else [[0, 1], [1, 2]])
    features = [np.repeat(ones(x[None]), L, axis=0) for x in X]
    return Toy("multilabel", model, X, y, features, list(y), [edges] * n, basis, len(edges))


def full_multilabel(rng):
    return multilabel(rng, full=True)


TOYS = [multiclass, hierarchy, multilabel, full_multilabel, chain, tree, graph, grid]


def primal(toy, w, C, rescale, weights=None):
    """The objective of a structured SVM, over all outputs."""
    total = 0.5 * w @ w
    for item in range(len(toy.codes)):
        psi, loss, truth = toy.table(item)
        values = loss + (psi - truth) @ w if rescale == "margin" else loss * (1 + (psi - truth) @ w)
        total += C * (1.0 if weights is None else weights[item]) * values.max()
    return total


def optimum(toy, C, rescale, weights=None):
    """The smallest objective, as a quadratic programme with a constraint for every output, by scipy's SLSQP."""
    n, d = len(toy.codes), toy.size
    rows, offsets = [], []
    for item in range(n):
        psi, loss, truth = toy.table(item)
        scale = np.ones(len(loss)) if rescale == "margin" else loss
        for k in range(len(loss)):  # xi >= loss - scale (truth - psi) w
            slack = np.zeros(n)
            slack[item] = 1.0
            rows.append(np.concatenate([scale[k] * (truth - psi[k]), slack]))
            offsets.append(loss[k])
    A, b = np.array(rows), np.array(offsets)
    costs = np.concatenate([np.zeros(d), C * (np.ones(n) if weights is None else weights)])

    def objective(v):
        return 0.5 * v[:d] @ v[:d] + costs @ v, np.concatenate([v[:d], np.zeros(n)]) + costs

    start = np.concatenate([np.zeros(d), np.full(n, b.max())])
    constraint = {"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A}
    options = {"maxiter": 500, "ftol": 1e-12}
    found = minimize(objective, start, jac=True, method="SLSQP", constraints=[constraint], options=options)
    assert found.success, found.message
    return float(found.fun)


def log_likelihood(toy, w):
    """Log-likelihoods of all items and their summed gradient, over all outputs."""
    logs, gradient = [], np.zeros(toy.size)
    for item in range(len(toy.codes)):
        psi, _, truth = toy.table(item)
        scores = psi @ w
        norm = np.logaddexp.reduce(scores)
        logs.append(truth @ w - norm)
        gradient += truth - np.exp(scores - norm) @ psi
    return np.array(logs), gradient
