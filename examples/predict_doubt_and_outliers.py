"""Doubtful is not the same as strange: what `predict_proba` and `score_samples` say about wines.

A row between two classes has an even posterior and an ordinary density; a row like none of them may have a posterior of
one, and a density next to nothing.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from tacit.predict import NaiveBayes


def most_even(model: NaiveBayes, rows: list) -> pd.DataFrame:
    """The row that the model is least sure of."""
    return min(rows, key=lambda row: model.predict_proba(row).max())


def main() -> None:
    wine = load_wine(as_frame=True)
    model = NaiveBayes().fit(wine.data, wine.target)
    typical = wine.data[wine.target == 0].mean().to_frame().T
    other = wine.data[wine.target == 1].mean().to_frame().T
    between = most_even(model, [typical + t * (other - typical) for t in np.linspace(0, 1, 101)])
    strange = typical * 3
    holes = typical.copy()
    holes.iloc[:, ::2] = np.nan
    for name, row in [("typical", typical), ("between", between), ("strange", strange), ("half missing", holes)]:
        sure, evidence = model.predict_proba(row)[0], model.score_samples(row)[0]
        print(f"{name:<13} p(class) {np.round(sure, 3)}   log p(x) {evidence:9.1f}")
    model.forget(wine.data[:50], wine.target[:50])
    print("after forgetting 50 of the first class:", model.class_count_)


if __name__ == "__main__":
    main()
