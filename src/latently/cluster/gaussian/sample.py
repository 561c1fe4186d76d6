"""Drawing rows from a Gaussian mixture."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_random_state

from latently.distributions.components.gaussian.frame import Kind
from latently.distributions.components.slab import Ints
from latently.learn.engine.protocol import Array


class GaussianSampling:
    """`sample`."""

    covariance_type: Kind
    random_state: Any
    weights_: Array
    means_: Array
    covariances_: Array

    def sample(self, n_samples: int = 1) -> tuple[Array, Ints]:
        """Draw rows and the components they come from, component by component."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample.")
        rng = check_random_state(self.random_state)
        counts = rng.multinomial(n_samples, self.weights_)
        labels = np.repeat(np.arange(len(counts)), counts)
        noise = rng.standard_normal((n_samples, self.means_.shape[1]))
        return self.means_[labels] + self._colour(noise, labels), labels

    def _colour(self, noise: Array, labels: Ints) -> Array:
        if self.covariance_type == "tied":
            return np.asarray(noise @ np.linalg.cholesky(self.covariances_).T)
        if self.covariance_type == "full":
            factors = np.linalg.cholesky(self.covariances_)
            return np.concatenate([noise[labels == k] @ factors[k].T for k in range(len(factors))])
        deviations = np.sqrt(self.covariances_)[labels]
        return np.asarray(noise * (deviations if deviations.ndim == 2 else deviations[:, None]))
