"""Two parties, found from votes alone, in a table with missing values.

435 members of the House of Representatives in 1984, 16 votes, 5.6 % unknown. The mixture never sees the parties. Draws
house_votes.png.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from latently.cluster import BernoulliMixture

TABLE = Path(__file__).parents[1] / "tests" / "reference" / "house_votes.txt"


def read() -> tuple[np.ndarray, np.ndarray]:
    """(n, 16) votes, NaN where unknown, and the parties."""
    words = [w for line in TABLE.read_text().splitlines() if not line.startswith("#") for w in line.split()]
    code = {"y": 1.0, "n": 0.0, "?": np.nan}
    return np.array([[code[sign] for sign in word[1:]] for word in words]), np.array([word[0] for word in words])


def draw(mixture: BernoulliMixture, sure: np.ndarray, party: np.ndarray) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    image = left.imshow(mixture.probabilities_, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    left.set_xticks(range(16), range(1, 17))
    left.set(xlabel="vote", ylabel="group", yticks=range(len(mixture.weights_)))
    figure.colorbar(image, ax=left, label="probability of yes")
    for name, letter in (("democrats", "d"), ("republicans", "r")):
        right.hist(sure[party == letter], np.linspace(0, 1, 21), alpha=0.6, label=name)
    right.set(xlabel="probability of group 0", ylabel="members", yscale="log")
    right.legend(loc="upper center")
    figure.savefig("house_votes.png", dpi=80)


def main() -> None:
    votes, party = read()
    mixture = BernoulliMixture(2, n_init=5, random_state=0).fit(votes)
    group = mixture.predict(votes)
    print(f"{len(votes)} members, {np.isnan(votes).mean():.1%} of the votes unknown")
    for k, weight in enumerate(mixture.weights_):
        names, counts = np.unique(party[group == k], return_counts=True)
        told = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
        print(f"group {k}: {weight:.0%} of the members; in truth {told}")
    apart = np.abs(np.diff(mixture.probabilities_, axis=0))[0]
    print("votes that divide most:", (np.argsort(-apart)[:3] + 1).tolist())
    empty = np.isnan(votes).all(axis=1)
    print(f"{empty.sum()} member(s) never voted: probabilities {mixture.predict_proba(votes[empty]).round(2).tolist()}")
    draw(mixture, mixture.predict_proba(votes)[:, 0], party)


if __name__ == "__main__":
    main()
