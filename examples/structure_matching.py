"""A model of your own in thirty lines: which worker gets which job, learnt from assignments that were good.

Draws structure_matching.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

from latently.structure import StructuredSVM

SKILLS = ("experience", "distance", "price")


class Matching:
    """x (m, m, d) are features of worker i doing job j; y (m,) is the job of each worker."""

    def joint_features(self, x, y):
        return x[np.arange(len(y)), y].sum(axis=0)

    def loss(self, y, other):
        return np.mean(y != other)

    def decode(self, x, w):
        return linear_sum_assignment(-(x @ w))[1]

    def decode_with_loss(self, x, y, w):
        wrong = np.full(x.shape[:2], 1 / len(y))
        wrong[np.arange(len(y)), y] = 0
        return linear_sum_assignment(-(x @ w + wrong))[1]


def days(n: int, seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Teams of six, and how a dispatcher who weighs skills by (2, -1, -0.5), not always alike, has assigned them."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(6, 6, 3)) for _ in range(n)]
    return X, [linear_sum_assignment(-(x @ [2, -1, -0.5] + 0.3 * rng.normal(size=(6, 6))))[1] for x in X]


def main() -> None:
    X, y = days(80, seed=0)
    model = StructuredSVM(Matching(), C=10.0, random_state=0).fit(X, y)
    new, truth = days(200, seed=1)
    print(f"jobs that go to the right worker: {model.score(new, truth):.3f}, gap {model.gap_:.2g}")
    for name, weight in zip(SKILLS, model.coef_ / model.coef_[0] * 2, strict=True):
        print(f"  {name:<11}{weight:+.2f}")

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    for ax, jobs, title in zip(axes, (truth[0], model.predict(new[:1])[0]), ("dispatcher", "learnt"), strict=True):
        ax.imshow(new[0] @ model.coef_, cmap="Blues")
        ax.plot(jobs, np.arange(6), "o", color="tab:orange")
        ax.set(title=title, xlabel="job", ylabel="worker")
    figure.savefig("structure_matching.png")


if __name__ == "__main__":
    main()
