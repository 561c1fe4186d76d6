"""Restricted Boltzmann machines with labels, against enumeration and finite differences."""

import itertools

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from latently.neural import ConditionalRBM
from latently.neural.conditional_rbm import _ChainRBM
from latently.neural.energy import chain
from latently.neural.energy.rbm import LabelledRBM

BITS = [list(itertools.product((0.0, 1.0), repeat=n)) for n in range(6)]


def machine(exclusive=True, n_inputs=3, n_labels=2, n_hidden=4):
    torch.manual_seed(1)
    model = LabelledRBM(n_inputs, n_labels, n_hidden, exclusive=exclusive).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return model.requires_grad_(True)


def energy(m, x, h, y):
    return -(x @ m.W @ h + y @ m.U @ h + m.a @ x + m.b @ y + m.c @ h)


def states(m):
    labels = m.labelings()
    return [(torch.tensor(x).double(), y) for x in BITS[len(m.a)] for y in labels]


@pytest.mark.parametrize("exclusive", [True, False])
def test_the_free_energy_is_the_energy_summed_over_the_hidden_units(exclusive):
    m = machine(exclusive)
    for x, y in states(m):
        summed = torch.logsumexp(torch.stack([-energy(m, x, torch.tensor(h).double(), y) for h in BITS[4]]), dim=0)
        assert torch.allclose(-m.free_energy(x[None], y[None])[0], summed)


@pytest.mark.parametrize("exclusive", [True, False])
def test_the_partition_function_and_the_conditional_are_those_of_the_enumeration(exclusive):
    m = machine(exclusive)
    x, y = (torch.stack(part) for part in zip(*states(m), strict=True))
    logs = -m.free_energy(x, y)
    assert torch.allclose(torch.logsumexp(logs, dim=0), m.log_partition())
    joint = logs.reshape(len(BITS[3]), -1)
    assert torch.allclose(m.log_conditional(torch.tensor(BITS[3]).double()), torch.log_softmax(joint, dim=1))


@pytest.mark.parametrize("which", ["joint", "conditional"])
def test_exact_gradients_are_finite_differences(which):
    m = machine()
    x = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]).double()
    y = torch.eye(2).double()

    def likelihood():
        joint = -m.free_energy(x, y)
        return (joint - m.log_partition()).sum() if which == "joint" else m.log_conditional(x)[[0, 1], [0, 1]].sum()

    gradients = torch.autograd.grad(likelihood(), list(m.parameters()), allow_unused=True)
    step = 1e-5
    for parameter, gradient in zip(m.parameters(), gradients, strict=True):
        exact = torch.zeros_like(parameter) if gradient is None else gradient
        with torch.no_grad():
            for i in range(parameter.numel()):
                flat = parameter.view(-1)
                before = flat[i].item()
                flat[i] = before + step
                above = likelihood()
                flat[i] = before - step
                below = likelihood()
                flat[i] = before
                assert float((above - below) / (2 * step)) == pytest.approx(float(exact.view(-1)[i]), abs=1e-7)


def test_contrastive_divergence_of_many_steps_is_the_gradient_of_the_likelihood():
    m = machine()
    x, y = torch.tensor([[1.0, 0.0, 1.0]]).double(), torch.tensor([[0.0, 1.0]]).double()
    exact = torch.autograd.grad((m.free_energy(x, y) + m.log_partition()).sum(), m.W)[0]
    torch.manual_seed(0)
    fantasies = m.gibbs(x.expand(20_000, 3), y.expand(20_000, 2), 50)
    contrast = m.free_energy(x, y).mean() - m.free_energy(*fantasies).mean()
    assert torch.allclose(torch.autograd.grad(contrast, m.W)[0], exact, atol=0.02)


@pytest.mark.parametrize("exclusive", [True, False])
def test_gibbs_samples_have_the_probabilities_of_the_model(exclusive):
    m = machine(exclusive)
    with torch.no_grad():
        torch.manual_seed(0)
        x, y = m.gibbs(torch.zeros(20_000, 3).double(), m.uniform_labels(20_000), 50)
        shares = [((x == a).all(dim=1) & (y == b).all(dim=1)).double().mean() for a, b in states(m)]
        exact = [(-m.free_energy(a[None], b[None])[0] - m.log_partition()).exp() for a, b in states(m)]
    assert torch.allclose(torch.stack(shares), torch.stack(exact), atol=0.015)


@pytest.mark.parametrize("exclusive", [True, False])
def test_annealed_importance_sampling_agrees_with_enumeration(exclusive):
    m = machine(exclusive)
    torch.manual_seed(0)
    value, error = m.annealed_log_partition(400, 300)
    assert 0 < float(error) < 0.05
    assert abs(float(value) - float(m.log_partition().detach())) < 4 * float(error) + 1e-3


def test_sums_over_chains_are_those_over_all_sequences():
    torch.manual_seed(0)
    scores, transitions = torch.randn(4, 3).double(), torch.randn(3, 3).double()
    paths = torch.tensor(list(itertools.product(range(3), repeat=4)))
    logs = chain.path_scores(scores.expand(81, 4, 3), transitions, torch.full((81,), 4), paths)
    assert torch.allclose(chain.log_sums(scores[None], transitions, torch.tensor([4]))[0], torch.logsumexp(logs, dim=0))
    assert torch.equal(chain.best_path(scores, transitions), paths[logs.argmax()])
    shares = torch.softmax(logs, dim=0)
    exact = torch.stack([torch.stack([shares[paths[:, t] == k].sum() for k in range(3)]) for t in range(4)])
    assert torch.allclose(chain.marginals(scores, transitions), exact)
    short = chain.log_sums(torch.cat([scores[:2], torch.full((2, 3), 9.0)])[None], transitions, torch.tensor([2]))
    assert torch.allclose(short, chain.log_sums(scores[None, :2], transitions, torch.tensor([2])))


def test_likelihoods_of_chains_sum_to_one():
    torch.manual_seed(0)
    m = _ChainRBM(2, 2, 3).double()
    torch.nn.init.normal_(m.transitions)
    x = torch.randn(1, 3, 2).double().expand(8, 3, 2)
    paths = torch.tensor(list(itertools.product(range(2), repeat=3)))
    assert m.log_likelihood(x, paths, torch.full((8,), 3)).exp().sum().item() == pytest.approx(1)


def test_neighbours_in_a_chain_help():
    """Labels that rarely change, seen through noise: the chain knows, single rows do not."""
    rng = np.random.default_rng(0)
    y = (np.cumsum(rng.uniform(size=2000) < 0.05) % 2).astype(int)
    X = (y + 1.2 * rng.normal(size=2000))[:, None]
    lengths = [50] * 40
    fast = {"n_hidden": 4, "n_iter_no_change": 3, "tol": 1e-3, "random_state": 0}
    model = ConditionalRBM(**fast).fit(X[:1000], y[:1000], lengths[:20])
    alone = ConditionalRBM(**fast).fit(X[:1000], y[:1000])
    right = (model.predict(X[1000:], lengths[20:]) == y[1000:]).mean()
    assert right > alone.score(X[1000:], y[1000:]) + 0.1
    assert np.allclose(model.predict_proba(X[1000:], lengths[20:]).sum(axis=1), 1)
    total = model.score_samples(X[1000:], y[1000:], lengths[20:])
    assert total.shape == (20,)
    with pytest.raises(ValueError, match="sum to the 1000 rows"):
        model.predict(X[1000:], [3])
    with pytest.raises(ValueError, match="no joint distribution"):
        model.sample()


def test_binary_labels_are_learnt_together():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 5)).astype(float)
    Y = np.column_stack([X[:, 0], X[:, 1], np.maximum(X[:, 0], X[:, 1])]).astype(int)
    model = ConditionalRBM(16, n_iter_no_change=5, random_state=0).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.97
    patterns = np.array(list(itertools.product((0, 1), repeat=3)))
    total = np.exp([model.score_samples(X[:1], pattern[None])[0] for pattern in patterns])
    assert total.sum() == pytest.approx(1)
    assert np.allclose(model.predict_proba(X[:1])[0], total @ patterns)
    with pytest.raises(ValueError, match="too many to list"):
        ConditionalRBM().fit(X, np.zeros((400, 13), dtype=int))


@pytest.mark.parametrize(
    ("how", "least"),
    [({}, 0.93), ({"generative": 1.0}, 0.85), ({"generative": 1.0, "persistent": True}, 0.85)],
    ids=["both", "contrastive divergence alone", "persistent chains alone"],
)
def test_digits_are_read(how, least):
    X, y = load_digits(return_X_y=True)
    train, test, labels, truth = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    model = ConditionalRBM(64, n_iter_no_change=4, tol=1e-2, random_state=0, **how).fit(train, labels)
    assert model.score(test, truth) >= least
    drawn, said = model.sample(20, random_state=0, n_steps=20)
    assert drawn.shape == (20, 64)
    assert set(said) <= set(range(10))
    assert drawn.min() >= 0
    assert drawn.max() <= 16


def test_the_joint_likelihood_rises_under_contrastive_divergence():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=300)
    X = (rng.uniform(size=(300, 4)) < np.where(y[:, None] == 1, 0.9, 0.1)).astype(float)
    model = ConditionalRBM(3, generative=1.0, n_iter_no_change=10, random_state=0).fit(X, y)
    log_z, error = model.log_partition(n_runs=100, n_temperatures=200, random_state=0)
    mean = float((-model.free_energy(X, y) - log_z).mean())
    assert error < 0.1
    assert -5 * np.log(2) < mean < 0  # better than the uniform distribution over five units
