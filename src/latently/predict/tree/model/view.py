"""A tree as scikit-learn's tools look at it: `export_text`, `plot_tree`, and whoever walks through `tree_`."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.predict.rows import is_sparse
from latently.predict.tree.model import answers
from latently.predict.tree.model.nodes import GROUPS, VALUES, Nodes

_LEAF: Final = -1
_NO_FEATURE: Final = -2


class TreeView:
    """Read-only view of a tree of thresholds with the attributes of scikit-learn's `Tree`.

    Parameters
    ----------
    nodes
        The tree.
    n_classes
        (outputs,) number of classes, ones for a regression.
    """

    def __init__(self, nodes: Nodes, n_classes: ArrayLike) -> None:
        self._nodes = nodes
        self.n_classes = np.asarray(n_classes)
        self.n_outputs = nodes.value.shape[1]
        self.max_n_classes = nodes.value.shape[2]
        self.n_features = len(nodes.n_categories)
        leaf = nodes.is_leaf
        self.node_count = self.capacity = len(nodes)
        self.n_leaves = int(leaf.sum())
        self.feature = np.where(leaf, _NO_FEATURE, nodes.feature)
        self.threshold = np.where(leaf, float(_NO_FEATURE), nodes.threshold)
        self.children_left = np.where(leaf, _LEAF, nodes.first)
        self.children_right = np.where(leaf, _LEAF, nodes.first + 1)
        self.missing_go_to_left = ((nodes.missing == 0) & ~leaf).astype(np.uint8)
        self.impurity, self.value = nodes.impurity, nodes.value
        self.n_node_samples, self.weighted_n_node_samples = nodes.samples, nodes.weight

    @property
    def is_binary(self) -> bool:
        """Whether scikit-learn's tools can show the tree: no split into more than two branches or by categories."""
        return not np.isin(self._nodes.kind, (GROUPS, VALUES)).any()

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self._nodes.depths().max())

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """(d,) what the splits by each column take from the impurity."""
        return self._nodes.importances(normalize)

    def compute_node_depths(self) -> NDArray[np.int64]:
        """(nodes,) depth of each node, 1 for the root."""
        return self._nodes.depths() + 1

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """(n,) leaf of each row."""
        return answers.leaves_of(self._nodes, _dense(X))

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """(n, outputs, classes or 1) value of the leaf of each row."""
        found = answers.values_of(self._nodes, _dense(X))
        return found.reshape(-1, self.n_outputs, self.max_n_classes)

    def decision_path(self, X: ArrayLike) -> Any:
        """(n, nodes) sparse ones where a row passes."""
        return answers.paths_of(self._nodes, _dense(X))


def _dense(X: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
