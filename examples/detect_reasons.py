"""Which wines do not belong, and why; and where detectors disagree."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from latently.detect import CombinedDetector, KernelDensity, KernelPCADetector, OneClassSVM


def main() -> None:
    wine = load_wine(as_frame=True).data
    scaled = StandardScaler().set_output(transform="pandas").fit_transform(wine)
    parts = [KernelDensity(bandwidth="rule"), OneClassSVM(nu=0.1), KernelPCADetector()]
    detector = CombinedDetector(parts, contamination=0.02).fit(scaled)

    outliers = scaled[detector.predict(scaled) == -1]
    for (row, _), told in zip(outliers.iterrows(), detector.explain(outliers), strict=True):
        print(f"wine {row} is {told['text']}")

    tails, apart = detector.tails(scaled), detector.disagreement(scaled)
    print(f"detectors disagree most about wine {apart.argmax()}: tails {tails[apart.argmax()].round(2)}")
    draw(tails, list(detector.detectors_), apart)


def draw(tails, names, apart) -> None:
    """Tail probabilities of two detectors, rows they disagree about in colour."""
    figure, ax = plt.subplots(figsize=(5, 4))
    points = ax.scatter(tails[:, 0], tails[:, 1], c=apart, s=14, cmap="viridis")
    ax.set(xlabel=f"tail probability, {names[0]}", ylabel=f"tail probability, {names[1]}", xscale="log", yscale="log")
    figure.colorbar(points, label="disagreement")
    figure.savefig("detect_reasons.png", dpi=80)


if __name__ == "__main__":
    main()
