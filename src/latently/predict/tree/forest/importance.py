"""Which columns matter: impurity, permutation, and groups of columns that go together."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted, check_random_state

from latently.predict.tree import columns

Array = NDArray[np.float64]
Groups = Mapping[str, Sequence[Any]]


def correlated_groups(X: Array, names: Sequence[str], threshold: float = 0.7) -> dict[str, list[int]]:
    """Columns whose ranks correlate (average linkage above a threshold), by the names of their members.

    Examples
    --------
    >>> x = np.arange(10.0)
    >>> noise = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3])
    >>> correlated_groups(np.column_stack([x, noise, x**2]), ["a", "b", "c"])
    {'a, c': [0, 2], 'b': [1]}
    """
    filled = np.where(np.isnan(X), np.nan_to_num(np.nanmean(np.where(np.isnan(X), 0.0, X), axis=0)), X)
    ranks = rankdata(filled, axis=0)
    ranks -= ranks.mean(axis=0)
    norms = np.sqrt((ranks**2).sum(axis=0))
    close = np.abs(ranks.T @ ranks) / np.where(norms > 0, norms, 1.0) / np.where(norms > 0, norms, 1.0)[:, None]
    if len(names) == 1:
        return {str(names[0]): [0]}
    distance = np.clip(1 - close, 0, None)
    np.fill_diagonal(distance, 0.0)
    labels = fcluster(linkage(squareform(distance, checks=False), "average"), 1 - threshold, "distance")
    members = [np.flatnonzero(labels == label).tolist() for label in dict.fromkeys(labels.tolist())]
    return {", ".join(str(names[j]) for j in group): group for group in members}


def grouped(groups: Any, X: Array, names: Sequence[str]) -> dict[str, list[int]]:
    """Groups of columns by name: each by itself, those that correlate, or as told."""
    if groups is None:
        return {str(name): [j] for j, name in enumerate(names)}
    if isinstance(groups, str):
        if groups != "correlated":
            raise ValueError(f"groups must be None, 'correlated' or a dict, got {groups!r}")
        return correlated_groups(X, names)
    places = {name: j for j, name in enumerate(names)}
    unknown = [c for group in groups.values() for c in group if c not in places and not isinstance(c, int | np.integer)]
    if unknown:
        raise ValueError(f"groups: column {unknown[0]!r} is not among {list(names)}")
    return {str(label): [places.get(c, c) for c in group] for label, group in groups.items()}


def permuted(score: Callable[[Array], float], X: Array, groups: Groups, n_repeats: int, rng: Any) -> Array:
    """(groups, repeats) fall of a score when the rows of a group of columns are shuffled together."""
    before = score(X)
    out = np.empty((len(groups), n_repeats))
    for g, members in enumerate(groups.values()):
        for r in range(n_repeats):
            changed = X.copy()
            changed[:, members] = X[rng.permutation(len(X))][:, members]
            out[g, r] = before - score(changed)
    return out


class ImportanceMixin:
    """Importances by permutation, also of groups of columns."""

    def permutation_importances(
        self, X: Any, y: Any, *, groups: Any = None, n_repeats: int = 5, random_state: Any = None
    ) -> Bunch:
        """How much the score falls when a column, or a group of columns together, is shuffled.

        Parameters
        ----------
        X, y
            Rows, best ones that were not learnt from, and their targets.
        groups
            None for every column by itself; "correlated" for groups of columns whose ranks correlate; or a dict from a
            name to columns (names or positions). Columns that say the same look unimportant one by one.
        n_repeats
            How often each is shuffled.
        random_state
            Seed of the shuffling.

        Returns
        -------
        Bunch
            groups (names), members, importances_mean, importances_std, importances (groups, repeats).
        """
        check_is_fitted(self)
        rows = columns.read_columns(self, X, reset=False)
        names = columns.column_names(self)
        parts = grouped(groups, rows, names)

        def score(changed: Array) -> float:
            return float(self._score_rows(changed, y))

        found = permuted(score, rows, parts, n_repeats, check_random_state(random_state))
        return Bunch(
            groups=list(parts),
            members=[[names[j] for j in group] for group in parts.values()],
            importances_mean=found.mean(axis=1),
            importances_std=found.std(axis=1),
            importances=found,
        )

    def group_importances(self, X: Any, groups: Any = "correlated") -> dict[str, float]:
        """Give impurity importances summed over groups of columns.

        Parameters
        ----------
        X
            Rows, from which columns that correlate are found.
        groups
            As for `permutation_importances`.
        """
        rows = columns.read_columns(self, X, reset=False)
        parts = grouped(groups, rows, columns.column_names(self))
        each = self.feature_importances_  # type: ignore[attr-defined]
        return {name: float(each[members].sum()) for name, members in parts.items()}

    def _score_rows(self, rows: Array, y: Any) -> float:
        """Score of encoded rows: accuracy, or the share of the variance."""
        values = self._of_rows(rows)  # type: ignore[attr-defined]
        truth = np.asarray(y)
        if hasattr(self, "classes_"):
            told = values[:, 0].argmax(axis=1) if values.shape[1] == 1 else values.argmax(axis=2)
            known = self._class_list  # type: ignore[attr-defined]
            named = (
                known[0].take(told)
                if len(known) == 1
                else np.column_stack([c.take(told[:, o]) for o, c in enumerate(known)])
            )
            return float(np.mean(named == truth))
        flat = values[:, :, 0].reshape(truth.shape)
        spread = ((truth - truth.mean(axis=0)) ** 2).sum()
        return float(1 - ((truth - flat) ** 2).sum() / spread) if spread > 0 else 0.0
