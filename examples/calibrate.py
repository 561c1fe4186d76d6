"""Naive Bayes is too sure of itself; held-out rows teach it modesty.

Tumours, half of them to learn from. Draws calibrate.png.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from latently.decide import Recalibrated, log_score
from latently.plot import CalibrationDisplay
from latently.predict import GaussianNB


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    models = {
        "naive Bayes": GaussianNB().fit(X, y),
        "recalibrated": Recalibrated(GaussianNB(), method="temperature").fit(X, y),
    }
    figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
    for name, model in models.items():
        display = CalibrationDisplay.from_estimator(model, X_new, y_new, label=name, n_bins=6, ax=ax)
        score = log_score(y_new, model.predict_proba(X_new)).value
        right = model.score(X_new, y_new)
        print(f"{name:<13} {right:.1%} right, log score {score:.3f}, calibration error {display.curve.error:.3f}")
    ax.set_title("is a tumour benign as often as foretold?")
    figure.savefig("calibrate.png")


if __name__ == "__main__":
    main()
