"""How many clusters, of which shape? Four families of mixtures and three opinions about wines.

Draws choose_a_model.png.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from latently.cluster import GaussianMixture
from latently.learn import select
from latently.plot import SelectionDisplay

GRID = {"n_components": range(1, 6), "covariance_type": ["full", "tied", "diag", "spherical"]}


def main() -> None:
    X, cultivar = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.5), layout="constrained")
    for ax, criterion in zip(axes, ("bic", "icl", "held-out"), strict=True):
        found = select((GaussianMixture(reg_covar=1e-2), GRID), X, criterion, folds=5, random_state=0)
        best = found.best
        agree = adjusted_rand_score(cultivar, found.best_model.predict(X))
        print(f"{criterion:<9} chooses {best['n_components']} components, {found.best_model.covariance_type}: "
              f"{best['n_parameters']} parameters; agreement with the cultivars {agree:.2f}")  # fmt: skip
        SelectionDisplay.from_selection(found, ax=ax)
        ax.get_legend().remove()
        handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, [name.rpartition("=")[2] for name in labels], loc="outside lower center", ncols=5)
    figure.savefig("choose_a_model.png", dpi=75)


if __name__ == "__main__":
    main()
