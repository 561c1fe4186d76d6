"""K-means is a Gaussian mixture in the limit.

Give every component the same covariance eps * I, and learn the means alone. As eps shrinks, responsibilities harden
into assignments, and the mixture's iterations become those of K-means from the same centres. Draws kmeans_limit.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture


def limit(X: np.ndarray, centres: np.ndarray, eps: float) -> GaussianMixture:
    """The mixture whose covariances are all eps * I, from the given centres."""
    k = len(centres)
    fixed = {"covariances": np.full(k, eps), "weights": np.full(k, 1 / k)}
    mixture = GaussianMixture(
        k, covariance_type="spherical", fixed=fixed, means_init=centres, tol=1e-9, max_iter=1000, random_state=0
    )
    return mixture.fit(X)


def draw(eps: list[float], doubt: list[float], gaps: list[float]) -> None:
    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    ax.loglog(eps, np.maximum(doubt, 1e-16), "o-", label="doubt about the least certain row, 1 - max p")
    ax.loglog(eps, np.maximum(gaps, 1e-16), "s-", label="largest gap to the centres of K-means (cm)")
    ax.invert_xaxis()
    ax.set(xlabel="variance eps of every component", title="a mixture of irises on its way to K-means")
    ax.legend()
    figure.savefig("kmeans_limit.png")


def main() -> None:
    X = load_iris().data
    centres = X[[10, 60, 110]]
    hard = KMeans(3, init=centres, n_init=1, tol=0, max_iter=1000).fit(X)
    print("      eps   least certain row   rows assigned as by K-means   largest gap between centres")
    steps, doubt, gaps = [1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5], [], []
    for eps in steps:
        soft = limit(X, centres, eps)
        agree = (soft.predict(X) == hard.labels_).sum()
        gap = np.abs(soft.means_ - hard.cluster_centers_).max()
        least = soft.predict_proba(X).max(axis=1).min()
        print(f"{eps:9g}   {least:17.4f}   {agree:>16} of {len(X)}   {gap:20.1e}")
        doubt.append(1 - least)
        gaps.append(gap)
    draw(steps, doubt, gaps)


if __name__ == "__main__":
    main()
