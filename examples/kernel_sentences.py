"""Strings and trees compared: what sentences have in common."""

import matplotlib.pyplot as plt

from latently.kernel import NGramKernel, SubsequenceKernel, TreeKernel

SENTENCES = ["science is organized knowledge", "wisdom is organized life", "the cat sat on the mat"]
TREES = [
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (D the) (N dog)) (VP (V sat)))",
    "(S (NP (D a) (N dog)) (VP (V barked) (ADV loudly)))",
]


def main() -> None:
    found = {
        "3-grams": NGramKernel(3, normalize=True)(SENTENCES),
        "subsequences of 3": SubsequenceKernel(3, decay=0.5, normalize=True)(SENTENCES),
        "trees": TreeKernel(decay=0.5, normalize=True)(TREES),
    }
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    for ax, (name, matrix) in zip(axes, found.items(), strict=True):
        print(name)
        print(matrix.round(3))
        ax.imshow(matrix, vmin=0, vmax=1, cmap="viridis")
        ax.set(title=name, xticks=range(3), yticks=range(3))
    figure.savefig("kernel_sentences.png", dpi=80)


if __name__ == "__main__":
    main()
