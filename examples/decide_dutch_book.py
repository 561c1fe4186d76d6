"""Beliefs that break the rules of probability, and the bets that make their holder lose whatever happens.

Draws decide_dutch_book.png: what the bets pay in every world.
"""

import matplotlib.pyplot as plt

from latently.decide import Bet, dutch_book

WORLDS = {
    "rain, cold": {"rain": True, "cold": True},
    "rain, warm": {"rain": True, "cold": False},
    "dry, cold": {"rain": False, "cold": True},
    "dry, warm": {"rain": False, "cold": False},
}


def draw(book):
    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    bars = ax.bar(list(WORLDS), [book.payoff(world) for world in WORLDS.values()], color="#b03a48")
    ax.bar_label(bars, fmt="%.2f", padding=3)
    ax.axhline(0, color="black", lw=0.8)
    ax.set(ylabel="payoff to the holder of the beliefs", title="fair bets, by her own lights, that she always loses")
    ax.margins(y=0.15)
    figure.savefig("decide_dutch_book.png")


def main():
    bet = Bet.on("x", 0.9, win=1)
    print(f"a belief of 0.9 takes a bet that wins {bet.if_true:.0f} or loses {-bet.if_false:.0f}")

    beliefs = {"rain": 0.6, "cold given rain": 0.9, "rain & cold": 0.3, "cold": 0.4}
    book = dutch_book(beliefs, stake=10)
    print(f"coherent: {book.coherent}; guaranteed loss with at most 10 tickets a bet: {book.loss:.2f}")
    for b in book.bets:
        verb = "buys" if b.stake > 0 else "sells"
        print(f"  {verb} {abs(b.stake):.2f} tickets on {b.event!r} at {b.price:.2f}")
    for name, world in WORLDS.items():
        print(f"  {name}: {book.payoff(world):.2f}")
    near = {text: round(value, 3) for text, value in book.nearest.items()}
    print(f"nearest coherent beliefs: {near}")
    draw(book)
    return bet, book


def test_numbers():
    bet, book = main()
    assert round(bet.if_false, 9) == -9
    assert not book.coherent
    assert all(book.payoff(world) <= -book.loss + 1e-9 for world in WORLDS.values())
    assert dutch_book(book.nearest).coherent


if __name__ == "__main__":
    main()
