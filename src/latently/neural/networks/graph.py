"""Graphs and convolutions on them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from latently.neural.networks.activation import activation

SUMMED_TOGETHER = 10.0
"""Sums over the nodes of a graph are in tens, of the same order as means."""


def normalised_adjacency(adjacency: Any, n_nodes: int, where: str = "the graph") -> sp.csr_array:
    """D^-1/2 (A + I) D^-1/2, sparse, with the degrees D of A + I (Kipf and Welling, 2017).

    Parameters
    ----------
    adjacency
        (n, n) weights of edges, sparse or dense; None for no edges.
    n_nodes
        How many nodes there are.
    where
        What to call the graph in an error.

    Examples
    --------
    >>> normalised_adjacency([[0, 1], [1, 0]], 2).toarray()
    array([[0.5, 0.5], [0.5, 0.5]])
    """
    A = sp.csr_array((n_nodes, n_nodes)) if adjacency is None else sp.csr_array(adjacency, dtype=np.float64)
    if A.shape != (n_nodes, n_nodes):
        raise ValueError(f"{where} has an adjacency of shape {A.shape} for {n_nodes} nodes: it must be square")
    if A.nnz and not (np.isfinite(A.data).all() and (A.data >= 0).all()):
        raise ValueError(f"{where} has weights of edges that are negative, NaN or inf: give finite ones of at least 0")
    looped = A + sp.eye_array(n_nodes)
    scale = sp.dia_array((1 / np.sqrt(looped.sum(axis=1))[None], [0]), shape=A.shape)
    return sp.csr_array(scale @ looped @ scale)


@dataclass(frozen=True, eq=False)
class Graphs:
    """Nodes (n, d) of one or more graphs, their joint normalised adjacency, and the graph (n,) that each is of."""

    nodes: Tensor
    adjacency: Tensor
    owner: Tensor
    n_graphs: int

    @classmethod
    def of(cls, nodes: Sequence[Any], adjacencies: Sequence[Any], dtype: torch.dtype, device: Any = None) -> "Graphs":
        """Graphs side by side: their adjacencies are the blocks of a diagonal."""
        A = sp.coo_array(sp.block_diag(list(adjacencies)))
        index = torch.as_tensor(np.array([A.row, A.col]), dtype=torch.long)
        with torch.sparse.check_sparse_tensor_invariants(enable=False):
            joint = torch.sparse_coo_tensor(index, torch.as_tensor(A.data, dtype=dtype), A.shape).coalesce()
        owner = np.repeat(np.arange(len(nodes)), [len(one) for one in nodes])
        values = torch.as_tensor(np.concatenate(list(nodes)), dtype=dtype)
        return cls(values.to(device), joint.to(device), torch.from_numpy(owner).to(device), len(nodes))

    def answering(self) -> "Graphs":
        """The same in double precision, on the CPU."""
        return Graphs(self.nodes.cpu().double(), self.adjacency.cpu().double(), self.owner.cpu(), self.n_graphs)


class GraphConvolution(nn.Module):
    """Pooling, A H with the normalised adjacency A, then processing: a linear layer."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """(n, n_out) new representations of nodes."""
        return torch.sparse.mm(adjacency, self.linear(x))


class GraphNetwork(nn.Module):
    """Graph convolutions with activations between them; of graphs, the mean over their nodes and a linear layer."""

    def __init__(self, n_in: int, widths: Sequence[int], n_out: int, kind: str, dropout: float, *, whole: bool) -> None:
        super().__init__()
        ends = (n_in, *widths) if whole else (n_in, *widths, n_out)
        self.layers = nn.ModuleList([GraphConvolution(a, b) for a, b in itertools.pairwise(ends)])
        self.bend, self.drop, self.whole = activation(kind), nn.Dropout(dropout), whole
        self.head = nn.Linear(2 * ends[-1], n_out) if whole else nn.Identity()

    def forward(self, graphs: Graphs) -> Tensor:
        """(n, K) logits of nodes, or of whole graphs."""
        x = graphs.nodes
        for i, layer in enumerate(self.layers):
            x = layer(x if i == 0 else self.drop(x), graphs.adjacency)
            if self.whole or i < len(self.layers) - 1:
                x = self.bend(x)
        out: Tensor = self.head(self.drop(self._pooled(x, graphs))) if self.whole else x
        return out

    def _pooled(self, x: Tensor, graphs: Graphs) -> Tensor:
        """(g, 2 w) mean over the nodes of each graph, and sum, which tells how many there are of a kind."""
        total = x.new_zeros(graphs.n_graphs, x.shape[1]).index_add(0, graphs.owner, x)
        sizes = torch.bincount(graphs.owner, minlength=graphs.n_graphs)[:, None]
        return torch.cat([total / sizes, total / SUMMED_TOGETHER], dim=1)
