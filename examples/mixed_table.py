"""Groups in a table of numbers and categories with missing values, and what is typical of each.

442 patients with diabetes: age, body mass, blood pressure, sugar, sex, and whether the disease got much worse within a
year. Draws mixed_table.png.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from latently.cluster import Mixture
from latently.explain import cluster_cards
from latently.learn import select
from latently.plot import DensityDisplay, ResponsibilitiesDisplay


def read() -> pd.DataFrame:
    data = load_diabetes(as_frame=True, scaled=False).frame
    table = data[["age", "bmi", "bp", "s5", "s6"]].rename(columns={"s5": "log triglycerides", "s6": "sugar"})
    table["sex"] = np.where(data["sex"] == 1, "one", "other")
    table["worse"] = pd.cut(data["target"], [0, 100, 200, 400], labels=["little", "some", "much"], ordered=True)
    rng = np.random.default_rng(0)
    return table.mask(rng.uniform(size=table.shape) < 0.05)


def draw(mixture: Mixture, table: pd.DataFrame) -> None:
    figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    for ax, column in zip(axes.flat, ("bmi", "log triglycerides", "worse"), strict=False):
        DensityDisplay.from_estimator(mixture, table, column=column, ax=ax)
    ResponsibilitiesDisplay.from_estimator(mixture, table, ax=axes[1, 1])
    figure.savefig("mixed_table.png", dpi=80)


def main() -> None:
    table = read()
    print(f"{len(table)} patients, {table.isna().sum().sum()} of {table.size} values missing")
    found = select((Mixture(n_init=3), {"n_components": range(1, 5)}), table, random_state=0)
    print(found)
    mixture = found.best_model
    for card in cluster_cards(mixture, table):
        print(f"\ngroup {card['cluster']}: {card['share']:.0%} of the patients, certain to {card['certainty']:.2f}")
        for c in card["columns"][:4]:
            if c["kind"] == "numeric":
                print(f"  {c['column']:<18} {c['mean']:6.1f} (others {c['mean_rest']:.1f})")
            else:
                print(f"  {c['column']:<18} {c['typical']} ({c['probabilities'][c['typical']]:.0%})")
    draw(mixture, table)


if __name__ == "__main__":
    main()
