"""Models of sequences as scikit-learn's checks want estimators: rows, and a target that is passed by position."""

from functools import cache
from inspect import signature
from typing import Any

import numpy as np

_ASK = ("predict", "predict_proba", "score_samples", "decode")
_LEARN = ("fit", "partial_fit", "score")


def for_rows(estimator: Any) -> Any:
    """Give an estimator that scikit-learn's checks can talk to.

    The second argument of a model of sequences is `lengths`, where scikit-learn passes `y`. What comes back behaves
    like the model, but that `fit`, `partial_fit` and `score` take `y` and ignore it, so that a table is a single
    sequence; and if the model reads fewer columns than the tables of the checks have (its method `_check_data` says
    how many), it is given the first ones. Other estimators come back as they are.

    Examples
    --------
    >>> from latently.sequence import GaussianHMM
    >>> model = for_rows(GaussianHMM(2, random_state=0))
    >>> model
    GaussianHMM(n_components=2, random_state=0)
    >>> model.fit([[0.0], [0.1], [5.0], [5.1]], ["no", "lengths", "at", "all"]).converged_
    True
    """
    if not reads_sequences(estimator):
        return estimator
    kind: Any = type(estimator)
    return _class_for(kind)(**estimator.get_params(deep=False))


def reads_sequences(estimator: Any) -> bool:
    """Whether the second argument of `fit` is `lengths`."""
    return hasattr(estimator, "fit") and list(signature(estimator.fit).parameters)[1:2] == ["lengths"]


@cache
def _class_for(kind: Any) -> type[Any]:
    """Derive a class, once, and let it be found by name, for pickle; what its examples show is not for checks."""
    methods = {verb: _without_target(getattr(kind, verb)) for verb in _LEARN if hasattr(kind, verb)}
    if hasattr(kind, "_check_data"):
        methods |= {verb: _of_first_columns(getattr(kind, verb)) for verb in _ASK if hasattr(kind, verb)}
    title = (kind.__doc__ or "").partition("\n")[0]
    derived = type(kind.__name__, (kind,), methods | {"__doc__": title, "__module__": __name__})
    globals()[kind.__name__] = derived
    return derived


def _without_target(method: Any) -> Any:
    def called(self: Any, X: Any, y: Any = None, **options: Any) -> Any:
        return method(self, _narrow(self, X), **options)

    return called


def _of_first_columns(method: Any) -> Any:
    def called(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, _narrow(self, X), *args, **kwargs)

    return called


def _narrow(model: Any, X: Any) -> Any:
    """X without the columns that a model cannot read; what is not a table, or is sparse, as it is."""
    if not hasattr(model, "_check_data") or hasattr(X, "tocsr") or np.ndim(X) != 2:
        return X
    width = model._check_data(2, np.random.default_rng(0)).shape[1]
    return X.iloc[:, :width] if hasattr(X, "iloc") else np.asarray(X)[:, :width]
