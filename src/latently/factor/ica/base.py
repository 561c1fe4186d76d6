"""The estimator that all four algorithms share: whitening, a rotation of their own, a fixed order and sign."""

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from latently.data.open import as_source
from latently.data.sources.chunks import ChunkSource
from latently.factor.checkpoints import NoCheckpoints
from latently.factor.ica.identified import warn_unidentified
from latently.factor.ica.white_data import WhiteData
from latently.factor.ica.whitening import Whitening, inverse_root, whitening_of
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import reducing
from latently.learn.estimator.missing import refuse_missing
from latently.learn.estimator.parameters import check_parameters
from latently.learn.estimator.table import OutOfCoreMixin, read_rows, read_source
from latently.learn.estimator.unconverged import warn_unconverged


@dataclass(frozen=True, eq=False)
class Separation:
    """What an algorithm found: W (k, k) maps white coordinates to sources.

    `strength` (k,) says how far each source is from one that could not be distinguished from another, in standard
    errors; `more` has further attributes of the estimator, an entry for each source.
    """

    W: Array
    n_iter: int
    converged: bool
    strength: Array
    more: dict[str, Array] = field(default_factory=dict)
    loss: float = 0.0


class IndependentComponents(
    NoCheckpoints,
    OutOfCoreMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Base of the algorithms: a subclass says how white data are rotated to independent sources."""

    _tags: ClassVar[dict[str, Any]] = {"transformer_tags.preserves_dtype": ["float64", "float32"]}
    _row_verbs: ClassVar[tuple[str, ...]] = ("transform",)
    _needs: ClassVar[str] = "sources that are not Gaussian"
    _opening: ClassVar[str] = ""
    n_components: int | None
    components_: Array
    mixing_: Array
    mean_: Array

    @abstractmethod
    def _separate(self, data: WhiteData, start: Array | None) -> Separation:
        """Find the sources of white data; from a given start, if there is one."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the independent components of the rows.

        Parameters
        ----------
        X
            Table of (rows, columns), rows in order of time where that matters.
        y
            Not used.
        """
        check_parameters(self)
        rows = self._read(X, reset=True)
        source = rows if isinstance(rows, ChunkSource) else as_source(rows)
        with reducing(source) as reduce:
            whitening = self._whitening(reduce)
            found = self._separate(WhiteData(reduce, whitening), None)
        self._remember(found, whitening, getattr(rows, "dtype", np.float64))
        warn_unconverged(self.reason_, "max_iter", getattr(self, "max_iter", 0), self._opening)
        warn_unidentified(found.strength, whitening.rows, self._needs)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and give the sources of the rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self, X: Any, copy: bool = True) -> Array:
        """(rows, components) sources of rows.

        Parameters
        ----------
        X
            Table of (rows, columns).
        copy
            Accepted for scikit-learn's sake: X is never changed.
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        return np.asarray((rows - self._centre()) @ self.components_.T)

    def inverse_transform(self, X: Any, copy: bool = True) -> Array:
        """(rows, columns) rows that sources are made of.

        Parameters
        ----------
        X
            Sources, (rows, components).
        copy
            Accepted for scikit-learn's sake: X is never changed.
        """
        check_is_fitted(self)
        sources = check_array(X, dtype=[np.float64, np.float32])
        if sources.shape[1] != len(self.components_):
            raise ValueError(f"X has {sources.shape[1]} sources, but the model has {len(self.components_)}")
        return np.asarray(sources @ self.mixing_.T + self._centre())

    def _read(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, ChunkSource):
            return read_source(self, X, reset=reset, allow_nan=False)
        with refuse_missing(type(self).__name__):
            return read_rows(self, X, reset=reset, min_rows=2 if reset else 1)

    def _whitening(self, reduce: Any) -> Whitening:
        return whitening_of(reduce, self.n_components)

    def _centre(self) -> Any:
        return self.mean_

    def _remember(self, found: Separation, whitening: Whitening, dtype: Any) -> None:
        """Fitted attributes, in the fixed order and with the fixed signs."""
        W, order = ordered(found.W, whitening)
        self.components_ = (W @ whitening.matrix).astype(dtype)
        self.mixing_ = (whitening.inverse @ np.linalg.inv(W)).astype(dtype)
        self.mean_, self.whitening_ = whitening.mean.astype(dtype), whitening.matrix.astype(dtype)
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.reason_ = "converged" if found.converged else "max_iter"
        self.__dict__.update({name: values[order] for name, values in found.more.items()})

    def _resampled(self, S: Array, rng: np.random.Generator) -> Array:
        """(k, k) rotation that the algorithm finds in surrogate data: rows drawn from sources, and made white."""
        drawn = S[rng.integers(len(S), size=len(S))]
        drawn = drawn - drawn.mean(axis=0)
        white = drawn @ inverse_root(drawn.T @ drawn / len(drawn))
        with reducing(as_source(white)) as reduce:
            data = WhiteData(reduce, Whitening.none(S.shape[1], len(S)))
            return self._separate(data, np.eye(S.shape[1])).W

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def ordered(W: Array, whitening: Whitening) -> tuple[Array, NDArray[np.intp]]:
    """W for sources of variance one, those that explain most of the data first, largest entry of mixing positive.

    Also the order: which row of W became the first, the second, ...
    """
    W = W / np.linalg.norm(W, axis=1, keepdims=True)  # white data: the variance of w z is |w|^2
    mixing = whitening.inverse @ np.linalg.inv(W)  # (d, k)
    order = np.argsort(-(mixing**2).sum(axis=0), kind="stable")
    largest = np.take_along_axis(mixing, np.abs(mixing).argmax(axis=0)[None], axis=0)[0]
    return (W * np.where(largest < 0, -1.0, 1.0)[:, None])[order], order
