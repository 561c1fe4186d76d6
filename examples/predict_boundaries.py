"""Where does naive Bayes change its mind? A line, an ellipse, a parabola.

With Gaussian columns the log odds of two classes are a quadratic in each column. If the variances agree, the squares
cancel and the boundary is a line; if the means agree, it is an ellipse about them; if only one column has two
variances, a parabola. Draws predict_boundaries.png.
"""

import matplotlib.pyplot as plt
import numpy as np

from latently.plot import DecisionRegionsDisplay
from latently.predict import GaussianNB

CASES = {
    "line: means differ": ([[-1, 0], [1, 0.5]], [[1, 1], [1, 1]]),
    "ellipse: both variances differ": ([[0, 0], [0, 0]], [[1, 1], [2, 9]]),
    "parabola: one variance differs": ([[0, 1], [0, -1]], [[4, 1], [0.5, 1]]),
}


def model_of(means: list, variances: list) -> GaussianNB:
    """Fit to four rows of each class, which have exactly these means and variances."""
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    rows = [np.array(m) + signs * np.sqrt(v) for m, v in zip(means, variances, strict=True)]
    return GaussianNB(var_smoothing=0).fit(np.vstack(rows), np.repeat([0, 1], 4))


def quadratic(model: GaussianNB) -> np.ndarray:
    """(d,) the coefficient of each squared column in the log odds."""
    return np.round(0.5 / model.var_[1] - 0.5 / model.var_[0], 12)


def shape(model: GaussianNB) -> str:
    """Name the boundary by its squares."""
    squares = quadratic(model)
    if not squares.any():
        return "line"
    return "parabola" if not squares.all() else "ellipse" if np.ptp(np.sign(squares)) == 0 else "hyperbola"


def draw() -> None:
    """Draw the probability of the second class, and the boundary where it is one half."""
    figure, axes = plt.subplots(1, len(CASES), figsize=(4 * len(CASES), 4.6), layout="constrained")
    corners = np.array([[-5.0, -5.0], [5.0, 5.0]])
    for ax, (title, case) in zip(axes, CASES.items(), strict=True):
        display = DecisionRegionsDisplay.from_estimator(model_of(*case), corners, n_points=200, ax=ax)
        ax.get_legend().remove()
        for points in display.points_:
            points.remove()
        ax.set(title=title, aspect="equal")
    figure.savefig("predict_boundaries.png", dpi=80)


def main() -> None:
    for title, case in CASES.items():
        model = model_of(*case)
        print(f"{title:<32} squares in the log odds {quadratic(model)}: {shape(model)}")
    draw()


if __name__ == "__main__":
    main()
