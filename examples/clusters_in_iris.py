"""How many kinds of iris are there, by their measurements alone?

Fits Gaussian mixtures of one to five components, lets the Bayesian information criterion choose, and prints what
each cluster is like, how sure the memberships are, and which flowers do not fit. Draws clusters_in_iris.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.plot import MixtureDisplay, ResponsibilitiesDisplay


def compare(X: np.ndarray, most: int) -> list[GaussianMixture]:
    """Mixtures of one component and more, with what speaks for them."""
    fits = [GaussianMixture(k, n_init=5, random_state=0).fit(X) for k in range(1, most + 1)]
    print("components   BIC      ICL      converged in")
    for k, fit in enumerate(fits, start=1):
        print(f"{k:>10}   {fit.bic(X):<8.1f} {fit.icl(X):<8.1f} {fit.n_iter_} iterations")
    return fits


def describe(mixture: GaussianMixture, X: np.ndarray, names: list[str], species: np.ndarray) -> None:
    """Cards of the clusters, in the data's own units."""
    labels, sure = mixture.predict(X), mixture.predict_proba(X).max(axis=1)
    for k, weight in enumerate(mixture.weights_):
        inside = labels == k
        print(f"\ncluster {k}: {weight:.0%} of the flowers, mean certainty {sure[inside].mean():.1%}")
        for j, name in enumerate(names):
            spread = np.sqrt(mixture.covariances_[k, j, j])
            print(f"  {name:<20} {mixture.means_[k, j]:5.2f} +- {spread:.2f}")
        kinds, counts = np.unique(species[inside], return_counts=True)
        print("  in truth:", ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True)))


def draw(mixture: GaussianMixture, three: GaussianMixture, X: np.ndarray, names: list[str]) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    display = MixtureDisplay.from_estimator(mixture, X, columns=(0, 1), ax=left)
    left.set(xlabel=names[0], ylabel=names[1], title="density, and ellipses of 50 % and 90 %")
    display.ax_.legend(title="component", loc="upper left", fontsize="small")
    ResponsibilitiesDisplay.from_estimator(three, X, ax=right)
    right.set_title("if there were three: who is in doubt", loc="right")
    figure.savefig("clusters_in_iris.png")


def main() -> None:
    iris = load_iris()
    X, species = iris.data, iris.target_names[iris.target]
    print(f"{len(X)} irises, {X.shape[1]} measurements each\n")
    fits = compare(X, most=5)
    mixture = min(fits, key=lambda fit: fit.bic(X))
    describe(mixture, X, iris.feature_names, species)
    log_density = mixture.score_samples(X)
    oddest = np.argsort(log_density)[:3]
    print("\nleast typical flowers:")
    for i in oddest:
        print(f"  row {i:<4} {X[i]}  log density {log_density[i]:.1f} (median {np.median(log_density):.1f})")
    draw(mixture, fits[2], X, iris.feature_names)


if __name__ == "__main__":
    main()
