"""Graph convolutions beside torch-geometric's: called by `python -m benchmarks.neural graphs`."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.neural_intervals import above_zero, interval
from latently.neural import GraphConvClassifier


def nodes() -> dict[str, bool]:
    import networkx as nx

    club = nx.karate_club_graph()
    sizes = [60, 60, 60]
    blocks = nx.stochastic_block_model(sizes, 0.12 * np.eye(3) + 0.03, seed=0)
    cases = {
        "karate club": (club, np.array([club.nodes[i]["club"] == "Officer" for i in club], dtype=int), 2),
        "block model": (blocks, np.repeat(np.arange(3), sizes), 5),
    }
    goals = {}
    for name, (graph, labels, per_class) in cases.items():
        A, X = nx.to_scipy_sparse_array(graph, weight=None), np.eye(len(labels))
        ours, theirs = [], []
        for seed in range(10):
            known = _few(labels, per_class, seed)
            model = GraphConvClassifier(random_state=seed).fit(X, labels, A, train_mask=known)
            ours.append((model.predict(X, A) == labels)[~known].mean())
            theirs.append(_geometric(X, A, labels, known, seed))
        print(
            f"{name:<14} {per_class} labels a class: ours {interval(ours)}  torch-geometric {interval(theirs)}",
            flush=True,
        )
        worse = np.subtract(theirs, ours)
        goals[f"{name}: not worse than torch-geometric's GCN"] = not above_zero(worse)
    return goals


def _few(labels: Any, per_class: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    chosen = np.concatenate([rng.permutation(np.flatnonzero(labels == k))[:per_class] for k in np.unique(labels)])
    return np.isin(np.arange(len(labels)), chosen)


def _geometric(X: Any, A: Any, labels: Any, known: Any, seed: int) -> float:
    """Accuracy of a GCN of two layers with 32 units and dropout of 0.3, as torch-geometric's examples train it."""
    from torch_geometric.nn import GCN

    torch.manual_seed(seed)
    edges = torch.tensor(np.array(A.nonzero()), dtype=torch.long)
    x, y = torch.tensor(X, dtype=torch.float32), torch.tensor(labels)
    model = GCN(X.shape[1], 32, 2, out_channels=int(labels.max()) + 1, dropout=0.3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(200):
        model.train()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x, edges)[known], y[known]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        return float((model(x, edges).argmax(dim=1) == y).numpy()[~known].mean())


def mutag(folder: str) -> dict[str, bool]:
    """Ten folds, drawn twice; both networks have two convolutions of 32 units."""
    from sklearn.model_selection import StratifiedKFold

    graphs, labels = read_mutag(Path(folder))
    ours: list[float] = []
    theirs: dict[str, list[float]] = {"mean": [], "add": []}
    for seed in range(2):
        for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(labels, labels):
            model = GraphConvClassifier(hidden=(32, 32), random_state=seed).fit(
                [graphs[i] for i in train], labels[train]
            )
            ours.append(model.score([graphs[i] for i in test], labels[test]))
            for pool, scores in theirs.items():
                scores.append(_geometric_graphs(graphs, labels, train, test, pool, seed))
    print(f"MUTAG, 2 x 10 folds: ours {interval(ours)}", *(f"GCN, {pool} {interval(s)}" for pool, s in theirs.items()))
    return {
        f"MUTAG: not worse than torch-geometric's GCN with {pool} pooling": np.mean(ours) >= np.mean(scores)
        for pool, scores in theirs.items()
    }


def _geometric_graphs(graphs: Any, labels: Any, train: Any, test: Any, pool: str, seed: int) -> float:
    """Accuracy of a GCN of torch-geometric's with pooling over nodes and a linear layer, after 200 epochs."""
    from torch_geometric import nn as geometric
    from torch_geometric.data import Batch, Data
    from torch_geometric.loader import DataLoader

    codes = np.unique(labels, return_inverse=True)[1]
    data = [
        Data(
            x=torch.tensor(x, dtype=torch.float32), edge_index=torch.tensor(np.array(A.nonzero())), y=torch.tensor([c])
        )
        for (x, A), c in zip(graphs, codes, strict=True)
    ]
    torch.manual_seed(seed)
    body, head = geometric.GCN(data[0].x.shape[1], 32, 2, dropout=0.3), torch.nn.Linear(32, int(codes.max()) + 1)
    pooled = {"mean": geometric.global_mean_pool, "add": geometric.global_add_pool}[pool]
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.01)

    def logits(batch: Any) -> Any:
        features = pooled(body(batch.x, batch.edge_index).relu(), batch.batch)
        return head(torch.nn.functional.dropout(features, 0.3, body.training))

    batches = DataLoader([data[i] for i in train], 64, shuffle=True)
    for _ in range(200):
        for batch in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(logits(batch), batch.y).backward()
            optimizer.step()
    body.eval()
    whole = Batch.from_data_list([data[i] for i in test])
    with torch.no_grad():
        return float((logits(whole).argmax(dim=1) == whole.y).float().mean())


def read_mutag(folder: Path) -> tuple[list[Any], Any]:
    """Graphs (one-hot atoms, adjacency) and classes, from the files of the TU collection."""
    import scipy.sparse as sp

    edges = np.loadtxt(folder / "MUTAG_A.txt", delimiter=",", dtype=int) - 1
    owner = np.loadtxt(folder / "MUTAG_graph_indicator.txt", dtype=int) - 1
    atoms = np.eye(7)[np.loadtxt(folder / "MUTAG_node_labels.txt", dtype=int)]
    A = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(owner), len(owner)))
    parts = [np.flatnonzero(owner == g) for g in range(owner.max() + 1)]
    return [(atoms[p], A[p][:, p]) for p in parts], np.loadtxt(folder / "MUTAG_graph_labels.txt", dtype=int)
