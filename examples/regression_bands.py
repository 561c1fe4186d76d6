"""A straight line, and how sure it is: where there is data, where there is little, and where there is none.

The progress of diabetes against body mass, from 15 patients and from all 442. Draws regression_bands.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from latently.predict import BayesianLinearRegression


def draw(ax: plt.Axes, model: BayesianLinearRegression, x: np.ndarray, y: np.ndarray) -> None:
    grid = np.linspace(10, 55, 100)[:, None]
    low, high = model.interval(grid, 0.9).T
    ax.fill_between(grid[:, 0], low, high, alpha=0.2, label="90 % of new patients")
    lines = model.sample_functions(grid, 20, random_state=0)
    ax.plot(grid, lines, color="C0", lw=0.5)
    ax.plot(grid, model.predict(grid), color="black", label="mean, and 20 draws")
    ax.scatter(x, y, s=10, color="0.4")
    ax.set(xlabel="body mass index", title=f"{len(y)} patients", ylim=(-150, 500))


def main() -> None:
    data = load_diabetes(as_frame=True, scaled=False)
    x, y = data.data["bmi"].to_numpy(), data.target.to_numpy()
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    for ax, n in zip(axes, (15, len(y)), strict=True):
        model = BayesianLinearRegression().fit(x[:n, None], y[:n])
        slope, error = model.coef_[0], np.sqrt(model.posterior().variance[0])
        low, high = model.interval(x[:, None], 0.9).T
        inside = np.mean((low <= y) & (y <= high))
        print(f"{n:>3} patients: slope {slope:.1f} +- {error:.1f}, intervals of 90 % hold {inside:.0%} of all patients")
        draw(ax, model, x[:n], y[:n])
    axes[0].set_ylabel("progress of the disease")
    axes[0].legend(loc="lower right")
    figure.savefig("regression_bands.png", dpi=70)


if __name__ == "__main__":
    main()
