"""A bent coin: what three heads in twelve tosses say, and whether the coin is bent at all (MacKay, section 3.2)."""

from math import comb

import matplotlib.pyplot as plt

from latently.decide import decide
from latently.distributions import Bernoulli, Beta
from latently.infer import Posterior
from latently.plot import PosteriorDisplay

TOSSES = [1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0]


def main():
    bent = Posterior(Beta(1, 1), Bernoulli(), TOSSES)
    fair = Posterior(Beta(1e8, 1e8), Bernoulli(), TOSSES)
    factor = bent.bayes_factor(fair)
    print(f"probability of heads: MAP {bent.map[0]:.3f}, mean {bent.mean[0]:.3f} (Laplace's rule: 4/14)")
    print(f"95 % interval, equal tails: {bent.interval()[0].round(3)}")
    print(f"95 % interval, shortest:    {bent.interval(kind='hdi')[0].round(3)}")
    print(f"bent against fair: Bayes factor {factor:.3f}")

    # a bet on heads that pays 3 for a stake of 1
    bet = decide(bent, {"bet": lambda p: 3 * p - 1, "pass": lambda p: 0 * p})
    print(f"bet on heads at 3 to 1: {bet.action}, with a margin of {bet.margin:.3f}")

    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    PosteriorDisplay.from_posterior(bent, ax=ax)
    ax.set(xlabel="probability of heads", title="after 3 heads in 12 tosses")
    figure.savefig("infer_bent_coin.png")
    return bent, factor, bet


def test_numbers():
    bent, factor, bet = main()
    assert abs(bent.mean[0] - 4 / 14) < 1e-12
    # 3! 9! / 13! against 2^-12
    exact = 2**12 / (13 * comb(12, 3))
    assert abs(factor - exact) < 1e-6
    assert bet.action == "pass"


if __name__ == "__main__":
    main()
