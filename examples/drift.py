"""Notice that new data is not like the old.

A mixture learns wines of two cultivars. Bottles come in; after the 40th, most are of a third cultivar that nobody
announced. The running surprise rises, and its shares say in which measurements. Draws drift.png.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from latently.cluster import GaussianMixture
from latently.explain import surprise_shares

WINDOW = 10
CHANGE = 40


def running(x: np.ndarray) -> np.ndarray:
    """Means of ten in a row."""
    return np.convolve(x, np.ones(WINDOW) / WINDOW, "valid")


def bottles(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Wines to learn from, and wines as they come in."""
    wine = load_wine(as_frame=True)
    table = np.log(wine.data)
    known = table[wine.target < 2].sample(frac=1, random_state=seed)
    late = pd.concat([known[120:], table[wine.target == 2]]).sample(40, random_state=seed)
    return known[:80], pd.concat([known[80:120], late])


def model() -> GaussianMixture:
    return GaussianMixture(2, covariance_type="tied", reg_covar=0.1, random_state=0)


def draw(surprise: np.ndarray, limit: float, excess: pd.Series) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    left.plot(np.arange(len(surprise)), surprise, ".", color="0.7", label="one bottle")
    left.plot(np.arange(WINDOW - 1, len(surprise)), running(surprise), label=f"mean of {WINDOW}")
    left.axhline(limit, color="C3", ls="--", label="limit, from the old bottles")
    left.axvline(CHANGE, color="black", lw=0.8, ls=":")
    left.set(xlabel="bottle", ylabel="surprise: -log p(x) in nats", ylim=(np.min(surprise) - 1, limit + 25))
    left.legend(loc="upper left")
    excess.sort_values().tail(7).plot.barh(ax=right, color="#b03a48")
    right.set(xlabel="nats above the usual, after the alarm", title="where the new bottles differ")
    figure.savefig("drift.png", dpi=80)


def main() -> None:
    old, new = bottles(seed=0)
    # surprise of bottles that the model has not learnt from: five folds
    folds = np.arange(len(old)) % 5
    held = np.concatenate([-model().fit(old[folds != f]).score_samples(old[folds == f]) for f in range(5)])
    limit = held.mean() + 4 * held.std() / np.sqrt(WINDOW)
    mixture = model().fit(old)
    surprise = -mixture.score_samples(new)
    alarm = int(np.argmax(running(surprise) > limit)) + WINDOW - 1
    print(f"usual surprise {held.mean():.1f} nats, limit for a mean of {WINDOW}: {limit:.1f}")
    print(f"the change is at bottle {CHANGE}; the alarm is raised at bottle {alarm}")
    after, before = surprise_shares(mixture, new[alarm:]), surprise_shares(mixture, new[:CHANGE])
    excess = pd.Series(after.mean(axis=0) - before.mean(axis=0), index=new.columns)
    print("it lies in", ", ".join(excess.nlargest(3).index))
    draw(surprise, limit, excess)


if __name__ == "__main__":
    main()
