"""Sequence labelling: digits written one after the other, where each one tells what comes next.

A row of scanned digits counts up, with an occasional jump. Read alone, a blurred digit is often mistaken; as part of
its row it is not. Draws structure_tagging.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from latently.structure import ChainModel, ConditionalRandomField, MulticlassModel


def rows_of_digits(n: int, rng: np.random.Generator, images: np.ndarray, labels: np.ndarray):
    """Sequences of eight digits that mostly count up, blurred."""
    by_digit = [np.flatnonzero(labels == k) for k in range(10)]
    X, y = [], []
    for _ in range(n):
        steps = np.where(rng.random(8) < 0.85, 1, rng.integers(0, 10, size=8))
        digits = (rng.integers(0, 10) + np.cumsum(steps)) % 10
        X.append(images[[rng.choice(by_digit[k]) for k in digits]] / 16 + 0.6 * rng.normal(size=(8, 64)))
        y.append(digits)
    return X, y


def main() -> None:
    images, labels = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    X, y = rows_of_digits(120, rng, images[:900], labels[:900])
    new, truth = rows_of_digits(100, rng, images[900:], labels[900:])
    alone = ConditionalRandomField(MulticlassModel(), C=0.1, tol=1e-4).fit(np.vstack(X), np.concatenate(y))
    field = ConditionalRandomField(ChainModel(), C=0.1, tol=1e-4).fit(X, y)
    print(f"digits read right, each alone:   {alone.score(np.vstack(new), np.concatenate(truth)):.3f}")
    print(f"digits read right, in their row: {field.score(new, truth):.3f}")
    best = field.k_best(new[:1], 3)[0]
    for output, chance in zip(best.outputs, best.probabilities, strict=True):
        print("  ", *output, f"  {chance:.2f}")

    figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 4.5), layout="constrained")
    top.imshow(np.hstack([x.reshape(8, 8) for x in new[0]]), cmap="gray_r")
    top.set(title=f"true: {' '.join(map(str, truth[0]))}", xticks=[], yticks=[])
    bottom.imshow(field.predict_proba(new[:1])[0].T, aspect="auto", cmap="Blues", vmin=0, vmax=1)
    bottom.set(xlabel="place in the row", ylabel="digit", title="probability of each digit")
    figure.savefig("structure_tagging.png", dpi=80)


if __name__ == "__main__":
    main()
