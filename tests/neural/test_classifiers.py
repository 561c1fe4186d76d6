"""Classifiers of images, graphs and second domains; pretext features; generators."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from latently.neural import (
    ConvNetClassifier,
    DomainAdversarialClassifier,
    GraphConvClassifier,
    PretextEncoder,
)
from latently.neural.domain_adversarial import _Adversaries
from latently.neural.energy.distance import energy_distance
from latently.neural.networks.graph import normalised_adjacency
from latently.neural.pretext.images import ORDERS, moved, shuffled

DIGITS = load_digits()
FAST = {"n_iter_no_change": 2, "tol": 0.01, "random_state": 0}


def test_digits_are_read_by_convolutions_and_probabilities_are_calibrated():
    images, labels = DIGITS.images, DIGITS.target
    model = ConvNetClassifier(hidden=(8, 16), **FAST).fit(images[:500], labels[:500])
    assert model.score(images[1000:1300], labels[1000:1300]) > 0.9
    proba = model.predict_proba(images[1000:1300])
    sure = proba.max(axis=1).mean()
    right = (proba.argmax(axis=1) == labels[1000:1300]).mean()
    assert abs(sure - right) < 0.06
    assert model.temperature_ != 1.0
    wait = model.decide(images[:3], np.eye(10), abstain=0.999).action
    assert len(wait) == 3


def test_the_temperature_lowers_the_held_out_log_loss():
    rng = np.random.default_rng(0)
    model = ConvNetClassifier()
    model.classes_, model.temperature_ = np.arange(2), 1.0
    truth = rng.integers(0, 2, size=400)
    noisy = np.where(rng.uniform(size=400) < 0.2, 1 - truth, truth)
    logits = 8.0 * np.eye(2)[truth]  # far too sure: one in five is wrong
    model._calibrate(logits, noisy)
    assert model.temperature_ == pytest.approx(8 / np.log(4), rel=0.3)


# graphs


def test_the_adjacency_is_normalised_as_published():
    A = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    degrees = A.sum(axis=1) + 1
    exact = (A + np.eye(34)) / np.sqrt(np.outer(degrees, degrees))
    assert np.allclose(normalised_adjacency(sp.csr_array(A), 34).toarray(), exact)
    with pytest.raises(ValueError, match="shape"):
        normalised_adjacency(A, 33)
    with pytest.raises(ValueError, match="negative"):
        normalised_adjacency(-A, 34)


def test_the_karate_club_splits_as_it_did():
    graph = nx.karate_club_graph()
    club = np.array([graph.nodes[i]["club"] for i in graph])
    A = nx.to_scipy_sparse_array(graph, weight=None)
    known = np.isin(np.arange(34), [0, 33])  # the instructor and the officer
    scores = []
    for seed in range(3):
        model = GraphConvClassifier(hidden=(16,), dropout=0.0, n_iter_no_change=10, random_state=seed)
        model.fit(np.eye(34), club, A, train_mask=known)
        scores.append(model.score(np.eye(34), club, adjacency=A))
    assert np.mean(scores) > 0.88
    rewards = {"Mr. Hi": {"here": 1, "there": 0}, "Officer": {"here": 0, "there": 1}}
    assert model.decide((np.eye(34), A), rewards).action[0] == "here"


def test_labels_outside_the_mask_are_not_looked_at():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), np.arange(50) % 2
    mask = np.arange(50) < 30
    other = np.where(mask, y, 1 - y)
    first, second = (GraphConvClassifier(**FAST).fit(X, labels, train_mask=mask) for labels in (y, other))
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    with pytest.raises(ValueError, match="at least one"):
        GraphConvClassifier().fit(X, y, train_mask=np.zeros(50, dtype=bool))


def test_whole_graphs_are_told_apart_by_their_structure():
    rng = np.random.default_rng(0)
    graphs, kinds = [], []
    for i in range(80):
        n = int(rng.integers(8, 14))
        graph = nx.cycle_graph(n) if i % 2 else nx.star_graph(n - 1)
        graphs.append((np.ones((n, 1)), nx.to_numpy_array(graph)))
        kinds.append("ring" if i % 2 else "star")
    model = GraphConvClassifier(hidden=(8, 8), dropout=0.0, n_iter_no_change=10, tol=0.01, random_state=0).fit(
        graphs[:60], kinds[:60]
    )
    assert model.score(graphs[60:], kinds[60:]) > 0.9
    one_by_one = np.concatenate([model.predict_proba([graph]) for graph in graphs[:5]])
    assert np.allclose(one_by_one, model.predict_proba(graphs[:5]))
    with pytest.raises(ValueError, match="graph 1 has an adjacency"):
        model.predict([graphs[0], (np.ones((3, 1)), np.eye(4))])
    with pytest.raises(ValueError, match="a list of graphs"):
        model.predict(np.ones((3, 1)))


# domains


@pytest.mark.parametrize("critic", ["wasserstein", "reversal"])
def test_a_shifted_domain_is_carried_over_to(critic):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) * [1.0, 0.5] + np.where(y[:, None] == 1, [1.5, 1.0], [-1.5, -1.0])
    other = X + np.array([3.0, 0.0])
    settings = {"hidden": (16,), "n_iter_no_change": 5, "tol": 0.01, "random_state": 0}
    plain = DomainAdversarialClassifier(**settings).fit(X, y)
    adapted = DomainAdversarialClassifier(critic=critic, weight=1.0, **settings).fit(X, y, X_target=other)
    assert adapted.score(other, y) > plain.score(other, y) + 0.1
    assert adapted.score(X, y) > 0.9
    apart = [
        float(energy_distance(*(torch.from_numpy(m.features(part)) for part in (X, other)))) for m in (plain, adapted)
    ]
    assert apart[1] < apart[0] / 2


def test_the_gradient_penalty_is_zero_for_a_critic_of_gradient_one():
    critic = torch.nn.Linear(3, 1)
    with torch.no_grad():
        critic.weight[:] = torch.tensor([[0.6, 0.0, 0.8]])
    module = _Adversaries(torch.nn.Identity(), torch.nn.Linear(3, 2), critic)
    a, b = torch.randn(5, 3), torch.randn(5, 3)
    assert float(module.penalty(a, b).detach()) == pytest.approx(0, abs=1e-10)
    with torch.no_grad():
        critic.weight *= 3
    assert float(module.penalty(a, b).detach()) == pytest.approx(4, rel=1e-5)


# pretext tasks


@pytest.mark.parametrize("task", ["inpainting", "jigsaw", "rotation", "transformation"])
def test_pretext_tasks_are_learnt(task):
    model = PretextEncoder(16, task=task, hidden=(8, 16), n_iter_no_change=3, random_state=0).fit(DIGITS.images[:400])
    curve = model.validation_curve_
    assert min(curve) < 0.95 * curve[0]
    features = model.transform(DIGITS.images[:10])
    assert features.shape == (10, 16)
    assert np.allclose(features[:1], model.transform(DIGITS.images[:1]))


def test_tiles_are_put_in_the_order_that_is_asked_for():
    images = torch.arange(16.0).reshape(1, 1, 4, 4).expand(len(ORDERS), 1, 4, 4)
    out = shuffled(images, torch.arange(len(ORDERS)))
    assert out[:, 0, ::2, ::2].reshape(-1, 4).tolist() == [[[0, 2, 8, 10][k] for k in order] for order in ORDERS]
    assert torch.equal(out[:, 0, 1::2, 1::2], out[:, 0, ::2, ::2] + 5)  # tiles stay whole


def test_features_of_pretext_tasks_do_not_collapse():
    model = PretextEncoder(16, task="rotation", hidden=(8, 16), n_iter_no_change=3, random_state=0)
    features = model.fit(DIGITS.images[:400]).transform(DIGITS.images[:400])
    values = np.linalg.eigvalsh(np.cov(features.T))
    in_use = values.sum() ** 2 / (values**2).sum()
    assert in_use > 3  # 5 to 8 directions over three seeds, 1.1 to 1.6 without the penalty


def test_graphs_with_rare_kinds_of_nodes_are_told_apart_by_how_many_there_are():
    rng = np.random.default_rng(0)
    many = np.arange(80) % 2
    graphs = [(np.eye(3)[np.r_[np.zeros(1 + 4 * k, int), np.ones(rng.integers(5, 9), int)]], None) for k in many]
    graphs[0][0][-1] = [0.0, 0.0, 1.0]  # a kind that is seen once
    model = GraphConvClassifier(random_state=0).fit(graphs[:60], many[:60])
    assert model.scaling_.scale.tolist() == [1.0, 1.0, 1.0]
    assert model.score(graphs[60:], many[60:]) > 0.9


def test_a_shift_moves_an_image():
    image = torch.zeros(1, 1, 8, 8)
    image[0, 0, 4, 4] = 1.0
    assert torch.allclose(moved(image, torch.zeros(1, 3)), image, atol=1e-5)
    shifted = moved(image, torch.tensor([[0.0, 1.0, 0.0]]))  # a quarter of the width
    assert int(shifted.argmax()) == 4 * 8 + 2


def test_masked_columns_of_mixed_types_are_filled_in():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, size=400)
    table = pd.DataFrame(
        {
            "size": kind + 0.1 * rng.normal(size=400),
            "colour": np.array(["red", "green", "blue"])[kind],
            "weight": 2.0 * kind + 0.1 * rng.normal(size=400),
        }
    )
    table.loc[::9, "weight"] = np.nan
    with pytest.raises(ValueError, match="'weight' of X has missing values"):
        PretextEncoder().fit(table)
    encoder = PretextEncoder(8, missing="mask", n_iter_no_change=5, random_state=0).fit(table)
    assert min(encoder.validation_curve_) < 0.5 * encoder.validation_curve_[0]
    few = LogisticRegression().fit(encoder.transform(table[:15]), kind[:15])
    assert few.score(encoder.transform(table), kind) > 0.95
    strange = table[:1].assign(colour="purple")  # a category that was not in the fit counts as hidden
    assert np.isfinite(encoder.transform(strange)).all()


# generators


def test_tables_as_images_are_scaled_by_column():
    """A column that tells the classes, beside one that is a million times as large."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [1.0, 1e6] + [0.0, 1e7]
    y = (X[:, 0] > 0).astype(int)
    model = ConvNetClassifier(hidden=(8,), n_iter_no_change=3, tol=0.02, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.9
