"""The two forces of t-SNE while a map of handwritten digits forms: neighbours attract, all points repel.

Draws tsne_forces.png, six frames of the descent with the sum of both forces as arrows, and tsne_forces.gif, where the
frames move.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from sklearn.datasets import load_digits

from latently.embed import TSNE, map_quality
from latently.embed.tsne.descent import MapStep
from latently.plot import MapDisplay

SHOWN = (15, 40, 100, 250, 265, 400)  # iterations; exaggeration ends at 250


def arrows(ax: plt.Axes, step: MapStep, y: np.ndarray) -> None:
    """The points of one iteration, and where the sum of both forces takes them."""
    net = step.repulsion - step.attraction
    longest = np.percentile(np.hypot(*net.T), 95) or 1.0
    width = np.ptp(step.embedding[:, 0])
    ax.clear()
    ax.quiver(*step.embedding.T, *(net / longest * width / 12).T, angles="xy", scale_units="xy", scale=1, width=0.003)
    ax.scatter(*step.embedding.T, c=y, cmap="tab10", s=6)
    ax.set(xticks=[], yticks=[], title=f"iteration {step.iteration}, attraction x {step.exaggeration:g}")


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:250], y[:250]
    seen: list[MapStep] = []

    def keep(step: MapStep) -> None:
        if step.iteration in SHOWN:
            seen.append(MapStep(**{**vars(step), "embedding": step.embedding.copy()}))

    tsne = TSNE(perplexity=20, max_iter=400, random_state=0).fit(X, on_iteration=keep)
    quality = map_quality(X, tsne.embedding_)
    print(f"KL divergence {tsne.kl_divergence_:.3f}")
    print(quality.summary())

    figure, axes = plt.subplots(2, 3, figsize=(10, 6.5), layout="constrained")
    for ax, step in zip(axes.flat, seen, strict=True):
        arrows(ax, step, y)
    figure.savefig("tsne_forces.png", dpi=60)

    moving, ax = plt.subplots(figsize=(4, 4))
    FuncAnimation(moving, lambda i: arrows(ax, seen[i], y), frames=len(seen)).save(
        "tsne_forces.gif", writer=PillowWriter(fps=2)
    )

    MapDisplay.from_predictions(tsne.embedding_, colour="distrust", quality=quality)


if __name__ == "__main__":
    main()
