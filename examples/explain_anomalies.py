"""Which tumours are unlike all others, and why?

A Gaussian mixture learns what eight measurements of benign tumours look like. The most surprising benign
ones are named with their reasons, and the malignant ones turn out to be surprising too, although no label was used to
find that. Draws explain_anomalies.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from latently.cluster import GaussianMixture
from latently.explain import surprises


def draw(scores: np.ndarray, benign: np.ndarray, told: dict) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    bins = np.linspace(scores.min(), np.quantile(scores, 0.95), 50)
    left.hist(scores[benign], bins, alpha=0.7, density=True, label="benign (learnt from)")
    left.hist(scores[~benign], bins, alpha=0.7, density=True, label="malignant (never seen)")
    left.set(xlabel="surprise: -log p(x) in nats", ylabel="share of tumours", yticks=[])
    left.legend()
    columns = [column for column in told["columns"] if column["excess"] > 0][::-1]
    bars = right.barh([c["column"] for c in columns], [c["excess"] for c in columns], color="#b03a48")
    right.bar_label(bars, [f"{c['value']:.3g} (expected {c['expected']:.3g})" for c in columns], padding=3)
    right.margins(x=0.5)
    right.set(xlabel="surprise above the usual, in nats", title=f"the reasons for row {told['table_row']}")
    figure.savefig("explain_anomalies.png", dpi=80)


def main() -> None:
    data = load_breast_cancer(as_frame=True)
    table = data.data.iloc[:, :10].rename(columns=lambda name: name.removeprefix("mean "))
    table = table.drop(columns=["perimeter", "area"])  # the radius says it all
    benign = data.target.to_numpy() == 1
    mixture = GaussianMixture(2, random_state=0).fit(table[benign])
    scores = -mixture.score_samples(table)
    above = np.mean(scores[~benign] > np.quantile(scores[benign], 0.95))
    print(f"{above:.0%} of the malignant tumours are more surprising than 95 % of the benign ones\n")
    oddest = np.flatnonzero(benign)[np.argsort(-scores[benign])[:3]]
    told = surprises(mixture, table.iloc[oddest], reference=table[benign])
    for row, about in zip(oddest, told, strict=True):
        print(f"benign tumour in row {row}: more surprising than {about['rank']:.1%} of its kind, because")
        for c in about["columns"][:3]:
            print(f"  {c['column']:<18} is {c['value']:.3g}, expected {c['low']:.3g} to {c['high']:.3g}")
    draw(scores, benign, {**told[0], "table_row": oddest[0]})


if __name__ == "__main__":
    main()
