"""Learning while data comes in, and unlearning what must go.

Naive Bayes sees handwritten digits in batches of 50: it is tested on each batch before it learns from it. Then a
third of the rows is taken back, and the model is the one that a fit to the others would have given. Draws
streaming.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from latently.predict import CategoricalNB

BATCH = 50


def learn(X: np.ndarray, y: np.ndarray) -> tuple[CategoricalNB, list[float], list[float]]:
    """Test, then learn, batch by batch; accuracy and certainty along the way."""
    model = CategoricalNB(min_categories=17)
    right, sure = [], []
    for start in range(0, len(X), BATCH):
        rows, labels = X[start : start + BATCH], y[start : start + BATCH]
        if start:
            chances = model.predict_proba(rows)
            right.append(np.mean(model.classes_[chances.argmax(axis=1)] == labels))
            sure.append(chances.max(axis=1).mean())
        model.partial_fit(rows, labels, classes=np.arange(10))
    return model, right, sure


def draw(right: list[float], sure: list[float]) -> None:
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    seen = BATCH * np.arange(1, len(right) + 1)
    ax.plot(seen, right, "o", ms=4, color="C0", label="share right in the next batch")
    ax.plot(seen, np.convolve(np.pad(right, 2, "edge"), np.ones(5) / 5, "valid"), color="C0")
    ax.plot(seen, sure, color="C1", label="how sure it was")
    ax.set(xlabel="digits learnt from", ylim=(0.5, 1.02), title="tested before it learns")
    ax.legend(loc="lower right")
    figure.savefig("streaming.png")


def main() -> None:
    X, y = load_digits(return_X_y=True)
    model, right, sure = learn(X, y)
    print(f"first batch {right[0]:.0%} right, last ten batches {np.mean(right[-10:]):.0%}")
    print(f"it says {np.mean(sure[-10:]):.0%}: naive Bayes is too sure of itself (see calibrate.py)")
    model.forget(X[:600], y[:600])
    rest = CategoricalNB(min_categories=17).fit(X[600:], y[600:])
    gap = np.abs(model.predict_proba(X) - rest.predict_proba(X)).max()
    print(f"after forgetting 600 rows: {gap:.1e} from a fit to the other {len(X) - 600}")
    draw(right, sure)


if __name__ == "__main__":
    main()
