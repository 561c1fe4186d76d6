"""Detection by a model of the data: what is improbable does not belong."""

from copy import copy
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from latently.data.sources.chunks import ChunkSource
from latently.data.tables import frames
from latently.detect.base import Detector
from latently.detect.read import column_names, in_memory, some_rows
from latently.detect.reasons.model import Asked
from latently.detect.reasons.words import explained_rows
from latently.distributions.base import Distribution
from latently.kernel.base import Array, length
from latently.learn.estimator.parameters import Flag, checked, stores_parameters
from latently.learn.estimator.table import adopt_columns, read_rows


@stores_parameters
class ModelDetector(Detector):
    """Scores rows by their log density under a model; missing values are allowed.

    Parameters
    ----------
    model
        A distribution, a mixture, a naive Bayes classifier or a hidden Markov model of latently, or anything with `fit`
        and `score_samples`. A Gaussian with a full covariance if None. It is not changed: what is fitted is `model_`.
    refit
        Whether to fit a copy of the model. If not, the model is fitted already, and only the threshold is learnt.
    contamination
        Share of the rows of the fit that is to be called outliers.

    Attributes
    ----------
    model_
        The fitted model.
    offset_
        Score at the threshold.

    Notes
    -----
    With a hidden Markov model X is a list of sequences, each of which gets one score, its log-likelihood per row; or a
    table, whose rows get the log density of what comes given the rows before.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> X = np.column_stack([x, x + 0.1 * rng.normal(size=200)])
    >>> detector = ModelDetector(contamination=0.01).fit(X)
    >>> detector.predict([[1.0, 1.0], [1.0, -1.0], [1.0, np.nan]])
    array([ 1, -1,  1])
    >>> detector.explain([[0.5, 2.0]])[0]["columns"][0]["column"] in ("x0", "x1")
    True
    """

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True}

    model: Annotated[Any, None, BaseEstimator, Distribution] = None
    _: KW_ONLY
    refit: Flag = True
    contamination: Annotated[float, Interval(Real, 0.0, 0.5, closed="right")] = 0.1

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model, and set the threshold.

        Parameters
        ----------
        X
            Rows as the model takes them; a list of sequences for a hidden Markov model. Files and Dask collections, if
            the model takes them: the threshold is then learnt from at most 64 megabytes of rows.
        y
            Classes, for a naive Bayes classifier.
        """
        model: Any = _gaussian() if self.model is None else self.model
        if isinstance(X, ChunkSource):
            return self._fit_source(model, X, y)
        asked = self._asked(X, reset=True)
        self.model_ = self._fitted(model, *_sequences(asked), y=y) if self.refit else _nameless(model)
        self._settle(self._scores(asked))
        return self

    def _fitted(self, model: Any, *X: Any, y: Any) -> Any:
        if isinstance(model, Distribution):
            return model.fit(*X)  # type: ignore[attr-defined]
        return clone(model).fit(*X, **({} if y is None or not _is_classifier(model) else {"y": y}))

    def _fit_source(self, model: Any, source: ChunkSource, y: Any) -> Self:
        """Let the model learn from all chunks; the threshold is learnt from a draw, if rows are many."""
        if _is_sequence_model(model):
            raise ValueError(
                "sequences are scored in memory: fit the model to the files, and give it with refit=False and some "
                "sequences as a list of arrays"
            )
        rows = some_rows(self, source)
        if self.refit and isinstance(model, Distribution):
            self.model_ = self._fitted(model, in_memory(self, source)[0], y=None)
        else:
            self.model_ = _nameless(self._fitted(model, source, y=y) if self.refit else model)
        self._settle(self._scores(self._asked(rows, reset=True)))
        return self

    def score_samples(self, X: Any) -> Array:
        """Log density (n,) of each row, or of each sequence per row."""
        check_is_fitted(self)
        return self._scores(self._asked(X, reset=False))

    def explain(self, X: Any, *, n_columns: int = 3) -> list[dict[str, Any]]:
        """Explain which columns make each row improbable; see `Detector.explain`.

        "surprise" of a column is -log p of its value given the rest of the row, "expected" what the model puts there
        if it is left out: of categories the most probable one, without "sd". The most surprising column comes first.
        """
        check_is_fitted(self)
        if _is_sequence_model(self.model_):
            raise ValueError("explain is for columns of tables, and this model scores sequences")
        scores = self.score_samples(X)
        asked = Asked.of(self.model_, X, lambda width: column_names(self, width))
        return explained_rows(scores, self, asked.columns(scores), n_columns)

    def _asked(self, X: Any, *, reset: bool) -> Any:
        """A table as floats with NaN, or what only the model can read."""
        if _is_list_of_sequences(X):
            return X
        if _has_schema(self.model):
            if frames.is_frame(X):
                adopt_columns(self, frames.column_names(X), reset=reset)
            return X
        return read_rows(self, X, reset=reset, allow_nan=True)

    def _scores(self, X: Any) -> Array:
        model = self.model_
        if isinstance(model, Distribution):
            return np.asarray(model.log_prob(X))
        if not _is_sequence_model(model):
            return np.asarray(model.score_samples(X))
        if _is_list_of_sequences(X):
            rows, lengths = _sequences(X)
            return np.asarray(model.score_sequences(rows, lengths) / np.maximum(lengths, 1))
        stream, scores = model.stream(), np.empty(length(X))
        for i, row in enumerate(X):
            scores[i] = stream.predict_next().log_prob(row)[0]
            stream.push(row)
        return scores

    def _expected_failed_checks(self) -> dict[str, str]:
        return {}


def _gaussian() -> Any:
    from latently.cluster import GaussianMixture

    return GaussianMixture(1)


def _nameless(model: Any) -> Any:
    """The model without names of columns, which the detector checks: it is asked about floats."""
    if _has_schema(model) or not hasattr(model, "feature_names_in_"):
        return model
    found = copy(model)
    del found.feature_names_in_
    return found


def _is_classifier(model: Any) -> bool:
    return getattr(model, "_estimator_type", None) == "classifier" or hasattr(model, "predict_log_proba")


def _is_sequence_model(model: Any) -> bool:
    return hasattr(model, "score_sequences")


def _has_schema(model: Any) -> bool:
    return hasattr(model, "schema")


def _is_list_of_sequences(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and np.ndim(X[0]) == 2


def _sequences(X: Any) -> tuple[Any, ...]:
    if not _is_list_of_sequences(X):
        return (X,)
    return np.concatenate([np.asarray(part) for part in X]), np.array([len(part) for part in X])
