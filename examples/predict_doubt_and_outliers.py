"""Doubtful is not the same as strange: what `predict_proba` and `score_samples` say about wines.

A row between two classes has an even posterior and an ordinary density; a row like none of them may have a posterior of
one, and a density next to nothing. Draws predict_doubt_and_outliers.png.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from latently.predict import NaiveBayes


def most_even(model: NaiveBayes, rows: list) -> pd.DataFrame:
    """The row that the model is least sure of."""
    return min(rows, key=lambda row: model.predict_proba(row).max())


def draw(model: NaiveBayes, table: pd.DataFrame, special: dict[str, pd.DataFrame]) -> None:
    """Certainty against density, of all wines and of the special ones."""
    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    sure, density = model.predict_proba(table).max(axis=1), model.score_samples(table)
    ax.scatter(density, sure, s=12, color="0.6", label=f"{len(table)} wines")
    for name, row in special.items():
        at = model.score_samples(row)[0], model.predict_proba(row).max()
        ax.scatter(*at, s=60, label=name)
    ax.set_xscale("symlog", linthresh=40)
    ax.set(xlabel="log p(x): strange to the left", ylabel="highest p(class | x): doubtful below", ylim=(0.4, 1.05))
    ax.legend(loc="lower left")
    figure.savefig("predict_doubt_and_outliers.png")


def main() -> None:
    wine = load_wine(as_frame=True)
    model = NaiveBayes().fit(wine.data, wine.target)
    typical = wine.data[wine.target == 0].mean().to_frame().T
    other = wine.data[wine.target == 1].mean().to_frame().T
    between = most_even(model, [typical + t * (other - typical) for t in np.linspace(0, 1, 101)])
    strange = typical * 3
    incomplete = typical.copy()
    incomplete.iloc[:, ::2] = np.nan
    special = {"typical": typical, "between": between, "strange": strange, "half missing": incomplete}
    for name, row in special.items():
        sure, evidence = model.predict_proba(row)[0], model.score_samples(row)[0]
        print(f"{name:<13} p(class) {np.round(sure, 3)}   log p(x) {evidence:9.1f}")
    draw(model, wine.data, special)
    model.forget(wine.data[:50], wine.target[:50])
    print("after forgetting 50 of the first class:", model.class_count_)


if __name__ == "__main__":
    main()
