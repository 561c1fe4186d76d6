"""Graph convolutional networks: classes of nodes, or of whole graphs."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from latently.learn.estimator.parameters import checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.classifier import NeuralClassifier
from latently.neural.graph_inputs import Nodes, graph_list, is_graph_list, labelled_nodes, one_graph
from latently.neural.inputs import Array, Scaling, as_tensor, read_table
from latently.neural.networks.graph import GraphNetwork, Graphs, normalised_adjacency
from latently.neural.training.session import chosen_device
from latently.neural.training.task import Batch, Task


@dataclass(frozen=True)
class _NodeRows:
    """Labelled nodes of one graph: every batch sees the whole graph, and learns from some of its nodes."""

    graphs: Graphs
    at: Tensor
    codes: Tensor

    def __len__(self) -> int:
        return len(self.at)

    def batch(self, index: Tensor) -> Batch:
        return self.graphs, self.at[index], self.codes[index]


@dataclass(frozen=True)
class _GraphRows:
    """Whole graphs, put side by side in batches."""

    nodes: list[Array]
    adjacencies: list[Any]
    codes: Tensor
    device: torch.device

    def __len__(self) -> int:
        return len(self.nodes)

    def batch(self, index: Tensor) -> Batch:
        some = index.tolist()
        pick = [self.nodes[i] for i in some], [self.adjacencies[i] for i in some]
        graphs = Graphs.of(*pick, torch.float32, self.device)
        return graphs, slice(None), self.codes[index]


class _GraphFitted:
    whole_graphs_: bool


@stores_parameters
class GraphConvClassifier(_GraphFitted, NeuralClassifier):
    """A graph convolutional network: nodes take the mean of their neighbourhood, and a layer processes it.

    Each layer is A H W with the normalised adjacency A (Kipf and Welling, 2017), so that after k layers a node has seen
    its neighbours up to k steps away. Nodes of one graph are classified from few labels, or whole graphs.
    Probabilities are calibrated: logits are divided by the temperature that suits held-out nodes or graphs best.

    Parameters
    ----------
    hidden
        Widths of the layers before the last.
    dropout
        Share of the features that are set to zero in training.
    activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        Training, as in `latently.neural.base.NeuralEstimator`. Batches are of nodes, which see all, or of graphs.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    classes_ : (K,) the labels
    temperature_ : what logits are divided by
    whole_graphs_ : whether the model is of whole graphs
    weights_ : dict of arrays, the parameters of the network by name
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> block = np.arange(60) % 2
    >>> edges = np.triu(rng.uniform(size=(60, 60)) < np.where(block[:, None] == block, 0.3, 0.02), 1)
    >>> model = GraphConvClassifier(random_state=0)
    >>> model = model.fit(np.eye(60), block, edges + edges.T, train_mask=np.arange(60) < 8)  # eight labels
    >>> bool((model.predict(np.eye(60), edges + edges.T) == block).mean() > 0.9)
    True
    """

    _: KW_ONLY
    dropout: Annotated[float, Interval(Real, 0.0, 1.0, closed="left")] = 0.3
    hidden: Sequence[int] = (32,)
    learning_rate: float = 1e-2

    @checked
    def fit(
        self,
        X: Any,
        y: Any = None,
        adjacency: Any = None,
        *,
        train_mask: Any = None,
        checkpoint: Any = None,
        every: int = 10,
    ) -> Self:
        """Train the network.

        Parameters
        ----------
        X
            Features (n, d) of the nodes of one graph; or a list of graphs, each a pair (features, adjacency).
        y
            A label for each node, or for each graph.
        adjacency
            (n, n) weights of edges, sparse or dense; without it nodes have no neighbours.
        train_mask
            (n,) truth values: which nodes are learnt from. The others pass on what their neighbours say, and
            their labels are not looked at. All if None.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        self.whole_graphs_ = is_graph_list(X)
        rows, codes = self._whole(X, y) if self.whole_graphs_ else self._single(one_graph(X, adjacency), y, train_mask)
        _, held_out = self._learn(_classification, rows, groups=codes, checkpoint=checkpoint, every=every)
        if len(held_out):
            self._calibrate(self._held_out_logits(rows, held_out), codes[held_out])
        return self

    def _single(self, nodes: Nodes, y: Any, train_mask: Any) -> tuple[Any, NDArray[np.int64]]:
        table = read_table(self, nodes.features, reset=True)
        at, labels = labelled_nodes(y, train_mask, len(table), type(self).__name__)
        codes = self._codes(labels, len(at))
        A = normalised_adjacency(nodes.adjacency, len(table))
        self.scaling_ = _node_scaling(table)
        device = chosen_device(self.device)
        graphs = Graphs.of([self.scaling_.apply(table)], [A], torch.float32, device)
        return _NodeRows(graphs, as_tensor(at, device), as_tensor(codes, device)), codes

    def _whole(self, X: Any, y: Any) -> tuple[Any, NDArray[np.int64]]:
        tables, adjacencies = graph_list(self, X, reset=True)
        codes = self._codes(y, len(tables))
        self.scaling_ = _node_scaling(np.concatenate(tables))
        device = chosen_device(self.device)
        scaled = [self.scaling_.apply(one) for one in tables]
        return _GraphRows(scaled, adjacencies, as_tensor(codes, device), device), codes

    def _held_out_logits(self, rows: Any, held_out: NDArray[np.int64]) -> Array:
        graphs, at, _ = rows.batch(torch.from_numpy(held_out))
        at = at.cpu() if isinstance(at, Tensor) else at
        with self._session(), torch.no_grad():
            own = Graphs(
                graphs.nodes.cpu().double(), graphs.adjacency.cpu().double(), graphs.owner.cpu(), graphs.n_graphs
            )
            return np.asarray(self._network()(own)[at.cpu() if isinstance(at, Tensor) else at].numpy())

    def _build(self) -> nn.Module:
        ends = (self.n_features_in_, self._widths, len(self.classes_))
        return GraphNetwork(*ends, self.activation, self.dropout, whole=self.whole_graphs_)

    # answers

    def _logits(self, X: Any, adjacency: Any = None) -> Array:
        check_fitted(self)
        if is_graph_list(X) != self.whole_graphs_:
            wanted = "a list of graphs (features, adjacency)" if self.whole_graphs_ else "the nodes of one graph"
            raise ValueError(f"the model was fitted to {wanted}: give that")
        if self.whole_graphs_:
            tables, adjacencies = graph_list(self, X, reset=False)
        else:
            nodes = one_graph(X, adjacency)
            tables = [read_table(self, nodes.features, reset=False)]
            adjacencies = [normalised_adjacency(nodes.adjacency, len(tables[0]))]
        graphs = Graphs.of([self.scaling_.apply(one) for one in tables], adjacencies, torch.float64)
        with self._session(), torch.no_grad():
            return np.asarray(self._network()(graphs).numpy())

    def predict_proba(self, X: Any, adjacency: Any = None) -> Array:
        """(n, K) probabilities of the classes of nodes or graphs; one graph may be a pair (features, adjacency)."""
        return super().predict_proba(X if adjacency is None else (X, adjacency))

    def predict(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """(n,) most probable classes of nodes or graphs; one graph may be a pair (features, adjacency)."""
        return super().predict(X if adjacency is None else (X, adjacency))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, adjacency: Any = None) -> float:
        """Share of the nodes or graphs whose class is predicted."""
        return float(super().score(X if adjacency is None else (X, adjacency), y, sample_weight))


def _node_scaling(table: Array) -> Scaling:
    """Centre and scale of features; indicators (0 or 1) stay as they are: a rare kind is not a large one.

    A constant feature stays as a constant, for nodes of which nothing else is known.
    """
    scaling, constant = Scaling.of(table), np.ptp(table, axis=0) == 0
    indicator = ((table == 0) | (table == 1)).all(axis=0)
    size = np.where(indicator | (table[0] == 0), 1.0, np.abs(table[0]))
    kept = constant | indicator
    return Scaling(np.where(kept, 0.0, scaling.centre), np.where(kept, size, scaling.scale))


def _classification(module: nn.Module) -> Task:
    def loss(batch: Batch) -> Tensor:
        graphs, at, codes = batch
        return cross_entropy(module(graphs)[at], codes)

    return Task.single(module, loss)
