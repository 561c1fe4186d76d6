"""A rolled-up sheet, unrolled: what scaling, Isomap and local tangent spaces make of it."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from latently.embed import ClassicalMDS, Isomap, LocallyLinearEmbedding


def main() -> None:
    X, turn = make_swiss_roll(1000, random_state=0)
    along = (turn * np.sqrt(1 + turn**2) + np.arcsinh(turn)) / 2  # length of the spiral
    models = {
        "ClassicalMDS": ClassicalMDS(),
        "Isomap": Isomap(n_neighbors=10),
        "LTSA": LocallyLinearEmbedding(n_neighbors=12, method="ltsa"),
    }
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        places = model.fit_transform(X)
        best = max(abs(np.corrcoef(places[:, i], along)[0, 1]) for i in range(2))
        print(f"{name}: correlation of an axis with the length along the sheet {best:.3f}")
        ax.scatter(*places.T, c=along, s=6, cmap="viridis")
        ax.set(title=name, xticks=[], yticks=[])
    figure.savefig("embed_unroll.png", dpi=80)


def test_isomap_finds_the_sheet():
    X, turn = make_swiss_roll(1000, random_state=0)
    along = (turn * np.sqrt(1 + turn**2) + np.arcsinh(turn)) / 2
    assert abs(np.corrcoef(Isomap(n_neighbors=10).fit_transform(X)[:, 0], along)[0, 1]) > 0.99


if __name__ == "__main__":
    main()
