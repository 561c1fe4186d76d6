"""From a fitted model to an ONNX graph."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from latently import cluster, factor, predict
from latently._version import __version__
from latently.persist.onnx import models, trees
from latently.persist.onnx.graph import Graph

_GRAPHS: dict[type[Any], Callable[[Graph, Any], None]] = {
    cluster.KMeans: models.kmeans,
    cluster.GaussianMixture: models.gaussian_mixture,
    cluster.BernoulliMixture: models.bernoulli_mixture,
    cluster.Mixture: models.mixture,
    predict.GaussianNB: models.gaussian_nb,
    predict.BernoulliNB: models.bernoulli_nb,
    predict.MultinomialNB: models.multinomial_nb,
    predict.CategoricalNB: models.categorical_nb,
    predict.NaiveBayes: models.naive_bayes,
    predict.DecisionTreeClassifier: trees.tree_classifier,
    predict.DecisionTreeRegressor: trees.tree_regressor,
    predict.RandomForestClassifier: trees.forest_classifier,
    predict.RandomForestRegressor: trees.forest_regressor,
    factor.PCA: models.pca,
}


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Write a fitted model as an ONNX graph, which gives its answers without Python, in double precision.

    The input is `X`, (rows, columns) numbers with NaN for a missing value. A model that was fitted to a table with
    categories has an input for each column instead, (rows, 1), called by its name: numbers, or strings with "" for a
    missing one. Classifiers give `label` and `probabilities`, mixtures `log_density` as well, `KMeans` gives `label`
    and `distances`, `PCA` gives `transformed`, regressors give `prediction`.

    Missing values count as in the model itself, but for mixtures with full covariances and for PCA: there a row with a
    missing value has NaN in all answers.

    Parameters
    ----------
    model
        A fitted `KMeans`, `GaussianMixture`, `BernoulliMixture`, `Mixture`, naive Bayes classifier, decision tree,
        random forest or `PCA`.
    path
        A file to write; by custom its name ends in `.onnx`.

    Returns
    -------
    onnx.ModelProto
        The graph.

    Raises
    ------
    TypeError
        If the model, or a family in it, has no form in ONNX; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from latently.cluster import KMeans
    >>> from latently.persist import to_onnx
    >>> graph = to_onnx(KMeans(2, random_state=0).fit(np.arange(12.0).reshape(6, 2)))
    >>> [output.name for output in graph.graph.output]
    ['label', 'distances']
    """
    _need_onnx()
    write = _GRAPHS.get(type(model))
    if write is None:
        known = ", ".join(sorted(cls.__name__ for cls in _GRAPHS))
        raise TypeError(f"{type(model).__name__} cannot be written as ONNX: this is for {known}")
    check_is_fitted(model)
    graph = Graph()
    write(graph, model)
    made = graph.model(type(model).__name__, "latently", __version__)
    if path is not None:
        Path(path).write_bytes(made.SerializeToString())
    return made


def _need_onnx() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError as problem:
        raise ImportError("ONNX export needs the package onnx: pip install 'latently[onnx]'") from problem
