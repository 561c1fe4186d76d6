"""A fitted mixture as plain arrays, asked about all rows at once whatever is missing in each.

With P the precision matrix of a component, y = x - mean with zeros for what is missing, u = P y and c = P_mm^-1 u_m (m:
missing), the precision of the observed part alone acts as v = u - P_m c, and the conditional mean of the missing part
is -c. Only matrices of the size of m are solved, which is small where little is missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.distributions import Product

Values = NDArray[np.float64]
Spots = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows, and where their missing values are
_ROOM = 2_000_000  # numbers that a batch may hold


def log_sum(logs: Values) -> Values:
    """Log of the sum of exponentials over the second axis."""
    top = logs.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0])


@dataclass(frozen=True, eq=False)
class Answer:
    """What a mixture says of rows.

    Attributes
    ----------
    joint
        (n, K) log density of the observed entries and the component.
    pulls
        (n, K, d) precision of the observed numbers times their distance from the mean; zero where missing.
    distance
        (n, K) squared distance from the mean, in units of the covariance.
    fills
        (n, K, d) scores with missing ones at their conditional mean in the component.
    """

    joint: Values
    pulls: Values
    distance: Values
    fills: Values

    @property
    def log_density(self) -> Values:
        """(n,) log density of the rows."""
        return log_sum(self.joint)

    @property
    def shares(self) -> Values:
        """(n, K) probability of each component."""
        return np.exp(self.joint - self.log_density[:, None])


@dataclass(frozen=True, eq=False)
class View:
    """Parameters of a mixture over scores and codes.

    Attributes
    ----------
    weights
        (K,) weights.
    numeric
        Places of the columns of scores.
    means, covariances
        (K, d) and (K, d, d) of the scores.
    tables
        By the place of a column of codes: (K, classes) probabilities.
    """

    weights: Values
    numeric: NDArray[np.intp]
    means: Values
    covariances: Values
    tables: dict[int, Values]
    precisions: Values = field(init=False, repr=False)
    log_dets: Values = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "precisions", np.linalg.inv(self.covariances))
        object.__setattr__(self, "log_dets", np.linalg.slogdet(self.covariances)[1])

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.weights)

    def ordered(self, order: NDArray[np.intp]) -> "View":
        """The mixture with some of its components, or with all in another order."""
        tables = {j: table[order] for j, table in self.tables.items()}
        return View(self.weights[order], self.numeric, self.means[order], self.covariances[order], tables)

    def batches(self, n: int) -> Iterator[slice]:
        """Slices of rows that are asked about together."""
        step = max(_ROOM // (self.size * max(len(self.numeric), 1)), 1)
        return (slice(start, start + step) for start in range(0, n, step))

    def ask(self, X: Values) -> Answer:
        """Densities, pulls and fills of rows of the model's table."""
        n, d = len(X), len(self.numeric)
        scores = X[:, self.numeric]
        gone = np.isnan(scores)
        joint = np.repeat(np.log(np.maximum(self.weights, 1e-300))[None], n, axis=0)
        pulls, fills, distance = np.empty((n, self.size, d)), np.empty((n, self.size, d)), np.empty((n, self.size))
        spots, known = list(_by_size(gone)), np.log(2 * np.pi) * (~gone).sum(axis=1)
        for k in range(self.size):
            y = np.where(gone, 0.0, scores - self.means[k])
            pulls[:, k], absent, log_dets = self._solved(k, y, gone, spots)
            distance[:, k] = np.einsum("nd,nd->n", y, pulls[:, k])
            fills[:, k] = np.where(gone, absent, y) + self.means[k]
            joint[:, k] -= 0.5 * (distance[:, k] + log_dets + known)
        self._add_codes(X, joint)
        return Answer(joint, pulls, distance, fills)

    def _add_codes(self, X: Values, joint: Values) -> None:
        for j, table in self.tables.items():
            seen = ~np.isnan(X[:, j])
            joint[seen] += np.log(np.maximum(table, 1e-300)).T[X[seen, j].astype(np.intp)]

    def _solved(self, k: int, y: Values, gone: NDArray[np.bool_], spots: list[Spots]) -> tuple[Values, Values, Values]:
        """Pulls of the observed numbers, conditional means of the missing ones, log determinants."""
        P = self.precisions[k]
        pulls, absent = y @ P, np.zeros(y.shape)
        log_dets = np.full(len(y), self.log_dets[k])
        for rows, at in spots:
            inner = P[at[:, :, None], at[:, None, :]]  # (b, s, s)
            c = np.linalg.solve(inner, np.take_along_axis(pulls[rows], at, axis=1)[..., None])[..., 0]
            pulls[rows] -= np.einsum("bsd,bs->bd", P[at], c)
            absent[rows[:, None], at] = -c
            log_dets[rows] += np.linalg.slogdet(inner)[1]
        return np.where(gone, 0.0, pulls), absent, log_dets

    def filled(self, X: Values) -> Values:
        """Rows with missing scores at their conditional mean, and missing codes at the most probable one."""
        out = X.copy()
        for part in self.batches(len(X)):
            answer = self.ask(X[part])
            means = np.einsum("nk,nkd->nd", answer.shares, answer.fills)
            rows = out[part]
            rows[:, self.numeric] = np.where(np.isnan(rows[:, self.numeric]), means, rows[:, self.numeric])
            for j, table in self.tables.items():
                rows[:, j] = np.where(np.isnan(rows[:, j]), (answer.shares @ table).argmax(axis=1), rows[:, j])
        return out

    def completed(self, X: Values, rng: np.random.Generator) -> Values:
        """Rows with missing scores drawn given the rest; codes stay as they are."""
        out = X.copy()
        gone = np.isnan(X[:, self.numeric])
        for part in self.batches(len(X)):
            answer = self.ask(X[part])
            spots = rng.random((len(answer.joint), 1))
            own = np.minimum((np.cumsum(answer.shares, axis=1) < spots).sum(axis=1), self.size - 1)
            means = answer.fills[np.arange(len(own)), own]
            rows = out[part]
            rows[:, self.numeric] = means + self._noise(own, gone[part], rng)
        return out

    def _noise(self, own: NDArray[np.intp], gone: NDArray[np.bool_], rng: np.random.Generator) -> Values:
        """(n, d) draws of the missing scores about their conditional means."""
        out, normal = np.zeros(gone.shape), rng.standard_normal(gone.shape)
        for k in range(self.size):
            mine = np.flatnonzero(own == k)
            for rows, at in _by_size(gone[mine]):
                inner = self.precisions[k][at[:, :, None], at[:, None, :]]
                root = np.linalg.cholesky(np.linalg.inv(inner))
                some = mine[rows]
                drawn = np.einsum("bst,bt->bs", root, np.take_along_axis(normal[some], at, axis=1))
                out[some[:, None], at] = drawn
        return out


def _by_size(gone: NDArray[np.bool_]) -> Iterator[Spots]:
    """Rows with equally many missing values, and (b, s) where they are."""
    sizes = gone.sum(axis=1)
    for s in np.unique(sizes[sizes > 0]):
        every = np.flatnonzero(sizes == s)
        step = max(_ROOM // (int(s) ** 2 + int(s) * gone.shape[1]), 1)
        for start in range(0, len(every), step):
            rows = every[start : start + step]
            yield rows, np.nonzero(gone[rows])[1].reshape(len(rows), int(s))


def view_of(mixture: Any, numeric: NDArray[np.intp]) -> View:
    """Read the arrays off a fitted `latently.cluster.Mixture`.

    Parameters
    ----------
    mixture
        The mixture; columns of scores are Gaussian, all others categorical.
    numeric
        Places of the columns of scores.
    """
    K, d = len(mixture.weights_), len(numeric)
    place = {int(j): at for at, j in enumerate(numeric)}
    means, covariances = np.zeros((K, d)), np.tile(np.eye(d), (K, 1, 1))
    tables: dict[int, list[Any]] = {}
    for k, component in enumerate(mixture.components_):
        whole = [(component, range(component.n_columns))]
        parts: Any = component.parts if isinstance(component, Product) else whole
        for part, columns in parts:
            if hasattr(part, "covariance_matrix"):
                at = [place[int(c)] for c in columns]
                means[k, at] = part.mean
                covariances[k][np.ix_(at, at)] = part.covariance_matrix
            else:
                tables.setdefault(int(columns[0]), [None] * K)[k] = part.probabilities
    return View(mixture.weights_, numeric, means, covariances, {j: np.array(t) for j, t in tables.items()})
