"""Gradients of every cost against finite differences, and approximate forces against exact ones."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.distance import squareform
from sklearn.manifold import _t_sne as peer

from latently.embed.tsne.affinities import Affinities, joint
from latently.embed.tsne.dense import ConditionalField, JointField, gradient
from latently.embed.tsne.forces import Forces
from latently.embed.tsne.kernels import Gaussian, Student
from latently.embed.tsne.repulsion import Exact, Grid
from latently.geometry import nearest
from latently.learn.engine.cores import threads


def probabilities(n=12):
    P = np.random.default_rng(0).uniform(size=(n, n))
    np.fill_diagonal(P, 0.0)
    P /= P.sum(axis=1, keepdims=True)
    return P, (P + P.T) / (2 * n)


@pytest.mark.parametrize("kind", ["student", "student 2", "gaussian", "conditional"])
def test_gradients_are_those_of_finite_differences(kind):
    P, J = probabilities()
    Y = np.random.default_rng(1).normal(size=(12, 2))
    kernels = {"student": Student(1.0), "student 2": Student(2.0), "gaussian": Gaussian()}
    field = ConditionalField(P) if kind == "conditional" else JointField(J, kernels[kind])

    def cost(y):
        return field.divergence(y.reshape(12, 2), field.compute(y.reshape(12, 2)))

    found = gradient(field, Y)
    np.testing.assert_allclose(found.ravel(), approx_fprime(Y.ravel(), cost, 1e-6), atol=2e-6)


@pytest.mark.parametrize("d", [1, 2])
def test_sparse_forces_and_costs_are_those_of_scikit_learn(d):
    J = probabilities(30)[1]
    Y = np.random.default_rng(1).normal(size=(30, d))
    forces = Forces(Affinities.dense(J), d, exact=True)
    cost, theirs = peer._kl_divergence(Y.ravel(), squareform(J), 1, 30, d)
    assert forces.cost(Y) == pytest.approx(cost)
    np.testing.assert_allclose(forces.gradient(Y).ravel(), theirs, rtol=1e-7)


def test_forces_in_three_columns_are_finite_differences_of_scikit_learns_cost():
    """With two degrees of freedom, scikit-learn's gradient is not that of its cost."""
    J = probabilities()[1]
    Y = np.random.default_rng(1).normal(size=(12, 3))
    forces = Forces(Affinities.dense(J), 3, exact=True)
    theirs = approx_fprime(Y.ravel(), lambda y: peer._kl_divergence(y, squareform(J), 2, 12, 3)[0], 1e-6)
    np.testing.assert_allclose(forces.gradient(Y).ravel(), theirs, atol=1e-6)


def both_repulsions(Y, kernel):
    parts = []
    for repulsion in (Exact(), Grid(kernel)):
        force, mass = np.empty_like(Y), np.empty(len(Y))
        repulsion.prepare(Y)
        repulsion.fill(Y, 0, len(Y), force, mass)
        parts.append((force, mass.sum() - len(Y)))
    return parts


@pytest.mark.parametrize(("d", "size", "most"), [(2, 1.0, 0.002), (2, 15.0, 0.01), (3, 4.0, 0.03)])
def test_forces_from_the_grid_are_close_to_those_of_all_pairs(d, size, most):
    Y = size * np.random.default_rng(0).normal(size=(600, d))
    (exact, total), (rough, rough_total) = both_repulsions(Y, Student(float(d - 1)))
    assert np.sqrt(((rough - exact) ** 2).mean() / (exact**2).mean()) < most
    assert rough_total == pytest.approx(total, rel=2e-3)


def test_a_single_point_is_not_pinned_to_the_grid():
    Y = np.array([[0.0, 0.0], [300.0, 300.0]]) + np.linspace(0, 0.4, 9)[:, None, None]
    for pair in Y:
        force, mass = both_repulsions(pair, Student(1.0))[1]
        assert np.abs(force).max() < 1e-3
        assert mass == pytest.approx(0.0, abs=1e-3)


def test_any_number_of_threads_gives_the_same_bits():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    affinities = joint(nearest(X, 10), 3.0)
    found = []
    for n in (1, 3):
        with threads(n):
            found.append(Forces(affinities, 2, exact=False).gradient(X[:, :2]))
    np.testing.assert_array_equal(found[0], found[1])


def test_a_map_with_a_point_far_out_has_a_coarser_grid_not_a_larger_one():
    Y = np.random.default_rng(0).normal(size=(50, 3))
    Y[0] = 1e4
    grid = Grid(Student(2.0))
    grid.prepare(Y)
    assert max(grid.potential.shape) < 150
    grid.prepare(Y[1:])
    assert grid.step == grid.finest
