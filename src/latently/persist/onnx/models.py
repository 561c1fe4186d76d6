"""The graphs of clusters, mixtures, naive Bayes and principal components."""

from typing import Any

import numpy as np

from latently.cluster import BernoulliMixture, GaussianMixture, KMeans, Mixture
from latently.factor import PCA
from latently.persist.onnx import terms
from latently.persist.onnx.graph import Graph, label_type
from latently.persist.onnx.inputs import encoded, numbers
from latently.predict import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes
from latently.predict.bayes.blocks import Tables
from latently.predict.bayes.gaussians import Gaussians


def kmeans(graph: Graph, model: KMeans) -> None:
    """`label` and `distances`; those of a row with missing values are scaled up to all columns."""
    centres = np.asarray(model.cluster_centers_, dtype=np.float64)
    origin = centres.mean(axis=0)
    x, seen = graph.observed(graph.add("Sub", numbers(graph, model), origin))
    near = (centres - origin).T.copy()
    cross = graph.add("Mul", graph.add("MatMul", x, near), np.float64(-2.0))
    own = graph.row_sums(graph.add("Mul", x, x))
    squares = graph.total([cross, graph.add("MatMul", seen, near**2), own])
    graph.give("label", graph.add("ArgMin", squares, axis=1, keepdims=0), np.int64)
    count = graph.add("Max", graph.row_sums(seen), np.float64(1.0))
    scaled = graph.add("Mul", squares, graph.add("Div", np.float64(centres.shape[1]), count))
    graph.give("distances", graph.add("Sqrt", graph.add("Max", scaled, np.float64(0.0))), np.float64, len(centres))


def gaussian_mixture(graph: Graph, model: GaussianMixture) -> None:
    """`label`, `probabilities` and `log_density`."""
    X, (k, d) = numbers(graph, model), model.means_.shape
    if model.covariance_type in ("diag", "spherical"):
        variances = np.broadcast_to(model.covariances_.reshape(k, -1), (k, d))
        found = terms.gaussians(graph, X, model.means_, variances)
    else:
        found = terms.full_gaussians(graph, X, model.means_, np.broadcast_to(model.covariances_, (k, d, d)))
    _give_memberships(graph, found, model)


def mixture(graph: Graph, model: Mixture) -> None:
    """`label`, `probabilities` and `log_density`."""
    found = terms.members(graph, encoded(graph, model, unseen=False), model.components_)
    _give_memberships(graph, found, model)


def bernoulli_mixture(graph: Graph, model: BernoulliMixture) -> None:
    """`label`, `probabilities` and `log_density`."""
    X = _binary(graph, numbers(graph, model), model.binarize)
    _give_memberships(graph, terms.bernoullis(graph, X, model.probabilities_), model)


def _give_memberships(graph: Graph, log_densities: str, model: Any) -> None:
    joint = graph.add("Add", log_densities, np.log(model.weights_))
    probabilities, log_density = terms.memberships(graph, joint)
    graph.give("label", terms.best(graph, joint), np.int64)
    graph.give("probabilities", probabilities, np.float64, len(model.weights_))
    graph.give("log_density", log_density, np.float64)


def _binary(graph: Graph, X: str, threshold: float | None) -> str:
    """Zeros and ones by a threshold; what is missing stays so."""
    if threshold is None:
        return X
    ones = graph.add("Where", graph.add("Greater", X, np.float64(threshold)), np.float64(1.0), np.float64(0.0))
    return graph.add("Where", graph.add("IsNaN", X), X, ones)


def gaussian_nb(graph: Graph, model: GaussianNB) -> None:
    """`label` and `probabilities`."""
    joint = _gaussians(graph, numbers(graph, model), model._gaussians())
    _give_classes(graph, joint, model._log_prior(), model)


def bernoulli_nb(graph: Graph, model: BernoulliNB) -> None:
    """`label` and `probabilities`."""
    X = _binary(graph, numbers(graph, model), model.binarize)
    x, seen = graph.observed(X)
    heads, tails = (side.log_prob() for side in model._sides)
    joint = graph.add("Add", terms.linear(graph, x, heads), terms.linear(graph, graph.add("Sub", seen, x), tails))
    _give_classes(graph, joint, model.class_log_prior_, model)


def multinomial_nb(graph: Graph, model: MultinomialNB) -> None:
    """`label` and `probabilities`."""
    joint = terms.linear(graph, numbers(graph, model), model.feature_log_prob_.T)
    _give_classes(graph, joint, model.class_log_prior_, model)


def categorical_nb(graph: Graph, model: CategoricalNB) -> None:
    """`label` and `probabilities`."""
    logs = [log.T for log in model.feature_log_prob_]
    joint = terms.categories(graph, numbers(graph, model), logs, model._lookup.unseen)
    _give_classes(graph, joint, model.class_log_prior_, model)


def naive_bayes(graph: Graph, model: NaiveBayes) -> None:
    """`label` and `probabilities`."""
    X = encoded(graph, model, unseen=True)
    pairs = zip(model.blocks_, model.distributions_, strict=True)
    found = [_block(graph, graph.columns(X, list(block.columns)), fitted) for block, fitted in pairs]
    _give_classes(graph, graph.total(found), model._log_prior(), model)


def _block(graph: Graph, X: str, fitted: Any) -> str:
    if isinstance(fitted, Gaussians):
        return _gaussians(graph, X, fitted)
    if isinstance(fitted, Tables):
        return terms.categories(graph, X, fitted.logs, fitted.lookup.unseen)
    return terms.members(graph, X, fitted.members)


def _gaussians(graph: Graph, X: str, fitted: Gaussians) -> str:
    """Columns of which nothing was ever observed say nothing."""
    known = np.flatnonzero(fitted.known)
    return terms.gaussians(graph, graph.columns(X, known), fitted.theta[:, known], fitted.var[:, known])


def _give_classes(graph: Graph, joint: str, log_prior: Any, model: Any) -> None:
    joint = graph.add("Add", joint, np.asarray(log_prior, dtype=np.float64))
    probabilities, _ = terms.memberships(graph, joint)
    give_labels(graph, joint, np.asarray(model.classes_))
    graph.give("probabilities", probabilities, np.float64, len(model.classes_))


def give_labels(graph: Graph, scores: str, classes: Any, name: str = "label") -> None:
    """The class of the largest score."""
    graph.give(name, graph.picked(terms.best(graph, scores), classes), label_type(classes))


def pca(graph: Graph, model: PCA) -> None:
    """`transformed`; NaN for a row with a missing value."""
    centred = graph.add("Sub", numbers(graph, model), model.mean_)
    axes = model.components_.T
    if model.whiten:
        axes = axes / np.sqrt(model.explained_variance_)
    found = graph.add("MatMul", centred, np.ascontiguousarray(axes))
    graph.give("transformed", found, np.float64, axes.shape[1])
