"""How much do the letters before say about the next one?

Markov chains of order 1 to 6 read the descriptions that come with scikit-learn's data sets, and are judged on a
description that they have not read. Draws markov_text.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn import datasets

from latently.sequence import MarkovChain

LETTERS = " abcdefghijklmnopqrstuvwxyz"


def read(name: str) -> str:
    """The description of a data set, as small letters and single spaces."""
    text = getattr(datasets, f"load_{name}")().DESCR.lower()
    return " ".join("".join(c if c in LETTERS else " " for c in text).split())


def draw(orders: list[int], told: dict[str, list[float]], chain: MarkovChain) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    for name, values in told.items():
        left.plot(orders, values, "o-", label=name)
    left.set(xlabel="letters looked back", ylabel="perplexity: as good as guessing among so many letters")
    left.set_ylim(0, None)
    left.legend()
    image = right.imshow(np.sqrt(chain.transmat_), cmap="Greys")
    signs = ["_" if sign == " " else sign for sign in LETTERS]
    right.set_xticks(range(27), signs, fontsize="small")
    right.set_yticks(range(27), signs, fontsize="small")
    right.set(xlabel="next letter", ylabel="letter", title="which letter follows which (_ is a space)")
    figure.colorbar(image, ax=right, label="square root of the probability", shrink=0.8)
    figure.savefig("markov_text.png", dpi=80)


def main() -> None:
    known = [read(name) for name in ("iris", "wine", "diabetes", "linnerud", "digits")]
    new = read("breast_cancer")
    print(f"{sum(map(len, known))} letters read, {len(new)} letters to be judged on")
    orders = [1, 2, 3, 4, 5, 6]
    told: dict[str, list[float]] = {"plain counts plus 0.1": [], "helped by shorter contexts": []}
    for order in orders:
        plain = MarkovChain(order, prior=0.1).fit(known)
        helped = MarkovChain(order, smoothing="interpolation").fit(known)
        for values, chain in zip(told.values(), (plain, helped), strict=True):
            values.append(chain.perplexity([new]))
        print(f"order {order}: perplexity {told['plain counts plus 0.1'][-1]:6.2f} from plain counts, "
              f"{told['helped by shorter contexts'][-1]:5.2f} helped by shorter contexts")  # fmt: skip
    best = MarkovChain(5, smoothing="interpolation", random_state=0).fit(known)
    print("it writes:", "".join(best.sample(120)))
    after = best.predict_next("measur")
    print("after 'measur':", {str(best.symbols_[i]): round(float(after[i]), 2) for i in np.argsort(-after)[:3]})
    draw(orders, told, MarkovChain(1, prior=0.1).fit(["".join(LETTERS), *known]))


if __name__ == "__main__":
    main()
