"""The geyser Old Faithful: two kinds of eruption, and what one says about the next.

272 eruptions in the order in which they happened: duration, and waiting time to the next one. A mixture finds two
kinds. A hidden Markov model adds that they take turns: a short one is hardly ever followed by a short one. Draws
old_faithful.png.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from latently.cluster import GaussianMixture
from latently.plot import MixtureDisplay, TransitionGraphDisplay
from latently.sequence import GaussianHMM

TABLE = Path(__file__).parents[1] / "tests" / "reference" / "old_faithful.csv"


def draw(mixture: GaussianMixture, model: GaussianHMM, table: pd.DataFrame) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    MixtureDisplay.from_estimator(mixture, table, ax=left)
    left.set(xlabel="duration (min)", ylabel="waiting time (min)")
    left.legend(title="component", loc="lower right", fontsize="small")
    TransitionGraphDisplay.from_estimator(model, ax=right)
    right.set_title("from one eruption to the next: 0 long, 1 short")
    figure.savefig("old_faithful.png", dpi=80)


def main() -> None:
    table = pd.read_csv(TABLE)
    mixture = GaussianMixture(2, random_state=0).fit(table)
    for weight, mean in zip(mixture.weights_, mixture.means_, strict=True):
        print(f"{weight:.0%} of the eruptions: {mean[0]:.1f} min long, then {mean[1]:.0f} min of waiting")
    X = table.to_numpy()
    model = GaussianHMM(2, "full", n_iter=200, tol=1e-6, init_params="st")
    model.means_, model.covars_ = mixture.means_, mixture.covariances_  # start there: long first
    model.fit(X)
    print("a short eruption is followed by a short one in", f"{model.transmat_[1, 1]:.0%} of the cases,")
    print("a long one by a short one in", f"{model.transmat_[0, 1]:.0%}")
    print(f"BIC without order in time {mixture.bic(table):.0f}, with it {model.bic(X):.0f} (lower is better)")
    draw(mixture, model, table)


if __name__ == "__main__":
    main()
