"""Where does naive Bayes change its mind? A line, an ellipse, a parabola.

With Gaussian columns the log odds of two classes are a quadratic in each column. If the variances agree, the squares
cancel and the boundary is a line; if the means agree, it is an ellipse about them; if only one column has two
variances, a parabola. Usage: python examples/predict_boundaries.py [FIGURE.png]
"""

import sys

import numpy as np

from tacit.predict import GaussianNB

CASES = {
    "line: different means, same variances": ([[-1, 0], [1, 0.5]], [[1, 1], [1, 1]]),
    "ellipse: same mean, different variances": ([[0, 0], [0, 0]], [[1, 1], [2, 9]]),
    "parabola: one column differs in variance": ([[0, 1], [0, -1]], [[4, 1], [0.5, 1]]),
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


def plot(path: str) -> None:
    """Draw the probability of the second class, and the boundary where it is one half."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    side = np.linspace(-6, 6, 200)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    figure, axes = plt.subplots(1, len(CASES), figsize=(4 * len(CASES), 4), layout="constrained")
    for ax, (title, case) in zip(axes, CASES.items(), strict=True):
        sure = model_of(*case).predict_proba(grid.reshape(-1, 2))[:, 1].reshape(200, 200)
        ax.contourf(side, side, sure, levels=20, cmap="RdBu", vmin=0, vmax=1)
        ax.contour(side, side, sure, levels=[0.5], colors="black")
        ax.set(title=title, aspect="equal")
    figure.savefig(path)


def main(argv: list[str]) -> None:
    for title, case in CASES.items():
        model = model_of(*case)
        print(f"{title:<42} squares in the log odds {quadratic(model)}: {shape(model)}")
    if argv:
        plot(argv[0])
        print("written to", argv[0])


if __name__ == "__main__":
    main(sys.argv[1:])
