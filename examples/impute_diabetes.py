"""Missing values in a medical table, filled, and how far the fillings can be trusted.

A tenth of the measurements of 442 patients is hidden. `Imputer` chooses a model, fills the missing values, and gives an
interval for each; since the truth is known, the intervals can be checked. Draws impute_diabetes.png.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from latently.impute import Imputer
from latently.plot import MissingnessDisplay


def hide(table: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """The table with a share of its values gone, the blood sera s1 to s3 together."""
    rng = np.random.default_rng(seed)
    gone = rng.uniform(size=table.shape) < share
    gone[:, 4:7] = gone[:, [4]]
    return table.mask(gone)


def draw(
    truth: pd.DataFrame, incomplete: pd.DataFrame, filled: pd.DataFrame, low: np.ndarray, high: np.ndarray
) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    MissingnessDisplay.from_table(incomplete, max_patterns=10, ax=left)
    j = truth.columns.get_loc("s4")
    gone = incomplete["s4"].isna().to_numpy()
    actual, middle = truth["s4"].to_numpy()[gone], filled["s4"].to_numpy()[gone]
    order = np.argsort(middle)
    places = np.arange(len(order))
    right.vlines(places, low[gone, j][order], high[gone, j][order], color="0.75", label="90 % interval")
    right.plot(places, middle[order], ".", color="C0", label="filled in")
    right.plot(places, actual[order], "x", color="C3", markersize=4, label="truth")
    right.set(xlabel="missing entries of s4, by what was filled in", ylabel="s4: cholesterol over HDL")
    right.legend()
    figure.savefig("impute_diabetes.png", dpi=80)


def main() -> None:
    truth = load_diabetes(as_frame=True, scaled=False).data.drop(columns="sex")
    incomplete = hide(truth, 0.1, seed=0)
    imputer = Imputer(random_state=0).fit(incomplete)
    filled = imputer.transform(incomplete)
    low, high = (np.asarray(end) for end in imputer.interval(incomplete, 0.9))
    gone = incomplete.isna().to_numpy()
    inside = (low <= truth.to_numpy()) & (truth.to_numpy() <= high)
    print(f"{gone.sum()} of {gone.size} values are missing; 90 % intervals hold {inside[gone].mean():.1%} of them")
    print("column   spread   error of the mean   error of the model")
    for j, name in enumerate(truth):
        x, own = truth[name].to_numpy(), gone[:, j]
        plain = np.sqrt(np.mean((x[own] - incomplete[name].mean()) ** 2))
        error = np.sqrt(np.mean((x[own] - filled[name].to_numpy()[own]) ** 2))
        print(f"{name:<6} {x.std():8.2f} {plain:19.2f} {error:20.2f}")
    draw(truth, incomplete, filled, low, high)


if __name__ == "__main__":
    main()
