"""Between a Gaussian mixture's public attributes, in the data's units, and its parameters in a frame."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils import check_array

from latently.distributions.components.gaussian.frame import Frame, Kind, covariance_shape, frame_of
from latently.distributions.components.gaussian.params import GaussianParams
from latently.learn.engine.protocol import Array

Public = tuple[Array, Array, Array, Array]
_LEARNT = ("weights", "means", "covariances")
_kept: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def public_values(params: GaussianParams) -> Public:
    """Weights, means, covariances and Cholesky factors of the precisions, in the data's own units."""
    scale, kind = params.frame.scale, params.kind
    roots: dict[Kind, Callable[[], Array]] = {
        "full": lambda: params.roots / scale[:, None],
        "tied": lambda: params.roots[0] / scale[:, None],
        "diag": lambda: params.roots[:, 0] / scale,
        "spherical": lambda: params.roots[:, 0, 0] / scale[0],
    }
    covariances = params.covariances * params.frame.covariance_factor(kind)
    return params.weights, params.frame.outward(params.means), covariances, roots[kind]()


def precisions_of(roots: Array, kind: Kind) -> Array:
    """Precisions from their Cholesky factors."""
    return np.asarray(roots @ np.swapaxes(roots, -1, -2) if kind in ("full", "tied") else roots**2)


def stored_params(mixture: Any, frame: Frame | None = None) -> GaussianParams:
    """The parameters behind the fitted attributes, in a given frame or one made from the components themselves."""
    kind, weights, means = mixture.covariance_type, np.asarray(mixture.weights_), np.asarray(mixture.means_)
    covariances = covariances_of(mixture.precisions_cholesky_, kind)
    if frame is None:
        frame = _own_frame(kind, weights, means, covariances)
    return GaussianParams(kind, frame, weights, frame.inward(means), covariances / frame.covariance_factor(kind))


def kept_params(mixture: Any) -> GaussianParams:
    """`stored_params`, made once for as long as the fitted attributes have the same values."""
    now = (mixture.covariance_type, mixture.weights_, mixture.means_, mixture.precisions_cholesky_)
    before, params = _kept.get(mixture, (None, None))
    if params is None or before[0] != now[0] or not all(map(np.array_equal, before[1:], now[1:])):
        params = stored_params(mixture)
        _kept[mixture] = ((now[0], *(np.array(value) for value in now[1:])), params)
    found: GaussianParams = params
    return found


def covariances_of(roots: Any, kind: Kind) -> Array:
    """Covariances from the Cholesky factors of the precisions."""
    roots = np.asarray(roots, dtype=float)
    if kind in ("diag", "spherical"):
        return np.asarray(1 / roots**2)
    inverse = np.linalg.inv(roots)
    return np.asarray(np.swapaxes(inverse, -1, -2) @ inverse)


def _own_frame(kind: Kind, weights: Array, means: Array, covariances: Array) -> Frame:
    centre = weights @ means
    spread = weights @ (means - centre) ** 2
    if kind == "full":
        inner = weights @ np.diagonal(covariances, axis1=1, axis2=2)
    elif kind == "tied":
        inner = np.diag(covariances)
    else:
        inner = weights @ covariances
    return frame_of(centre, spread + inner, kind)


def given_params(mixture: Any, frame: Frame, drawn: GaussianParams | None) -> GaussianParams:
    """The start that the user gave, with what is drawn in place of what is missing; None where all is given."""
    kind, d = mixture.covariance_type, len(frame.origin)
    k = mixture.n_components if drawn is None else len(drawn.weights)
    found: dict[str, Array] = {} if drawn is None else {name: getattr(drawn, name) for name in _LEARNT}
    if mixture.weights_init is not None:
        found["weights"] = _given_weights(mixture.weights_init, k)
    if mixture.means_init is not None:
        found["means"] = frame.inward(_shaped(mixture.means_init, (k, d), "means"))
    if mixture.precisions_init is not None:
        covariances = _given_covariances(mixture.precisions_init, kind, k, d)
        found["covariances"] = covariances / frame.covariance_factor(kind)
    return GaussianParams(kind, frame, **found)


def _shaped(values: Any, shape: tuple[int, ...], name: str) -> Array:
    array: Array = check_array(values, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=f"{name}_init")
    if array.shape != shape:
        raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {array.shape}")
    return array


def _given_weights(values: Any, k: int) -> Array:
    weights = _shaped(values, (k,), "weights")
    if (weights < 0).any() or (weights > 1).any():
        raise ValueError(
            f"The parameter 'weights' should be in the range [0, 1], but got max value {weights.max():.5f}, "
            f"min value {weights.min():.5f}"
        )
    if not np.isclose(weights.sum(), 1.0, atol=1e-6):
        raise ValueError(f"The parameter 'weights' should be normalized, but got sum(weights) = {weights.sum():.5f}")
    return weights


def _given_covariances(values: Any, kind: Kind, k: int, d: int) -> Array:
    precisions = _shaped(values, covariance_shape(kind, k, d), f"{kind} precision")
    if kind in ("diag", "spherical"):
        if (precisions <= 0).any():
            raise ValueError(f"'{kind} precision' should be positive")
        return 1 / precisions
    symmetric = np.allclose(precisions, np.swapaxes(precisions, -1, -2))
    if not symmetric or (np.linalg.eigvalsh(precisions) <= 0).any():
        raise ValueError(f"'{kind} precision' should be symmetric, positive-definite")
    return np.asarray(np.linalg.inv(precisions), dtype=np.float64)
