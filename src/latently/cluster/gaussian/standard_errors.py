"""How a Gaussian mixture's density depends on its parameters, and how sure they are: gradients, standard errors."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from latently.cluster.gaussian.given import stored_params
from latently.cluster.gaussian.labels import with_labels
from latently.cluster.gaussian.model import GaussianMixtureModel
from latently.data.sources.chunks import ChunkSource
from latently.distributions.components.gaussian.gradient import gradients, packed_scores
from latently.distributions.components.gaussian.limits.free import free_directions
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.order import labelled_components
from latently.learn.engine.information import inverse_information
from latently.learn.engine.protocol import Array, Reduce
from latently.learn.engine.reduce import reducing
from latently.learn.estimator.labels import Labels

# Share of a parameter's own scale that it is moved by: differences of the exact score are then good to eight digits.
_STEP = 1e-4


class GaussianErrors:
    """Fisher scores, and standard errors of weights, means and covariances."""

    _known_source: Callable[..., tuple[ChunkSource, Labels | None]]
    _model: Callable[[float], GaussianMixtureModel]

    def fisher_scores(self: Any, X: Any) -> Array:
        """Gradients (n, parameters) of the log density of each row; missing values are left out of it.

        Parameters are the logits of the weights, the means, and the logarithms of variances or the Cholesky factors of
        covariances, their diagonals as logarithms. `latently.kernel.FisherKernel` compares rows by them.
        """
        rows = np.asarray(self._read(X), dtype=np.float64)
        shares = self._memberships(rows)
        weights = shares - self.weights_ if len(self.weights_) > 1 else np.zeros((len(rows), 0))
        params = GaussianParams.in_own_units(self.covariance_type, self.means_, self.covariances_)
        return np.hstack([weights, packed_scores(params, rows, np.ascontiguousarray(shares.T))])

    def standard_errors(self, X: Any, sample_weight: Any = None, *, labels: Any = None) -> dict[str, Array]:
        """Standard errors of the parameters, from the curvature of the objective on the rows that were fitted.

        The observed information (minus the second derivatives of log-likelihood and log prior) is inverted in the
        parameters that are free: fixed ones have an error of zero, tied ones share theirs. It takes a fit at
        its optimum: use a small `tol`.

        Parameters
        ----------
        X
            (n, d) rows, NaN for missing.
        sample_weight
            (n,) weights.
        labels
            (n,) the component of each row where it is known, -1 or NaN elsewhere: those that the fit was given. What is
            known of a row need not be inferred, so errors are smaller with labels than without.

        Returns
        -------
        dict
            "weights", "means" and "covariances", each shaped as the fitted attribute.

        Examples
        --------
        >>> import numpy as np
        >>> from latently.cluster import GaussianMixture
        >>> X = np.arange(100.0)[:, None]
        >>> errors = GaussianMixture(1, reg_covar=0).fit(X).standard_errors(X)
        >>> float(errors["means"][0, 0]), float(X.std() / 10)
        (2.8866, 2.8866)
        """
        check_is_fitted(self)
        self._check_labels_given(labels)
        source, known = self._known_source(X, sample_weight, labels, reset=False)
        params = stored_params(self)
        model = with_labels(self._model(sum(chunk.total_weight for chunk in source)), known)
        k, d = params.means.shape
        directions = free_directions(params.kind, k, d, model.constraints)
        with reducing(source) as reduce:
            information = _information(model, params, reduce, directions)
        covariance = inverse_information(information, len(information) * np.finfo(float).eps)
        variances = np.einsum("if,fg,ig->i", directions, covariance, directions)
        return _shaped(params, np.sqrt(np.maximum(variances, 0.0)))

    def _check_labels_given(self, labels: Any) -> None:
        if labels is None and labelled_components(self).any():
            raise ValueError(
                "the mixture was fitted with labels, without which its parameters are not at their optimum: give "
                "standard_errors the same labels"
            )


def _information(model: GaussianMixtureModel, params: GaussianParams, reduce: Reduce, directions: Array) -> Array:
    """(f, f) minus the second derivatives in the free directions, by central differences of the score."""
    lengths = _STEP * np.where(directions.T != 0, _room(params), np.inf).min(axis=1)  # (f,)
    columns = [
        (_score(model, _moved(params, -step), reduce) - _score(model, _moved(params, step), reduce)) / (2 * length)
        for step, length in zip(directions.T * lengths[:, None], lengths, strict=True)
    ]
    found = directions.T @ np.reshape(columns, directions.T.shape).T
    return (found + found.T) / 2


def _room(params: GaussianParams) -> Array:
    """(coordinates,) how far each may go before the mixture changes much, or stops being one."""
    deviations = np.sqrt(np.diagonal(params.matrices, axis1=1, axis2=2))  # (k, d)
    if params.shape_of_roots == "elementwise":
        covariances = params.covariances
    else:
        matrices = params.covariances.reshape(-1, *params.covariances.shape[-2:])
        deviation = deviations[: len(matrices)]
        scales = deviation[:, :, None] * deviation[:, None, :]
        rows, columns = np.tril_indices(deviations.shape[1])
        covariances = (scales * np.linalg.eigvalsh(matrices / scales)[:, :1, None])[:, rows, columns]
    return np.concatenate([params.weights, deviations.ravel(), covariances.ravel()])


def _moved(params: GaussianParams, step: Array) -> GaussianParams:
    k, d = params.means.shape
    weights, means, rest = np.split(step, [k, k + k * d])
    if params.shape_of_roots == "elementwise":
        change = rest.reshape(params.covariances.shape)
    else:
        rows, columns = np.tril_indices(d)
        change = np.zeros_like(params.covariances)
        change[..., rows, columns] = rest.reshape(*change.shape[:-2], -1)
        change[..., columns, rows] = change[..., rows, columns]
    return replace(
        params,
        weights=params.weights + weights,
        means=params.means + means.reshape(k, d),
        covariances=params.covariances + change,
    )


def _score(model: GaussianMixtureModel, params: GaussianParams, reduce: Reduce) -> Array:
    """(coordinates,) first derivatives of the objective."""
    stats = reduce(lambda chunk: model.expect(params, chunk))
    prior = model.frame_prior(params)
    counts, (means, inner) = stats.weight + prior.excess, gradients(params, stats, prior)
    if params.shape_of_roots == "triangular":
        rows, columns = np.tril_indices(params.means.shape[1])
        inner = np.where(rows == columns, 1.0, 2.0) * inner[..., rows, columns]
    weights = np.divide(counts, params.weights, out=np.zeros_like(counts), where=params.weights > 0)
    return np.concatenate([weights, means.ravel(), inner.ravel()])


def _shaped(params: GaussianParams, errors: Array) -> dict[str, Array]:
    k, d = params.means.shape
    zero = replace(params, weights=np.zeros(k), means=np.zeros((k, d)), covariances=np.zeros_like(params.covariances))
    found = _moved(zero, errors)
    return {
        "weights": found.weights,
        "means": found.means * params.frame.scale,
        "covariances": found.covariances * params.frame.covariance_factor(params.kind),
    }
