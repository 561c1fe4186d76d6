"""Beliefs that break the rules of probability, and the bets that make their holder lose whatever happens."""

from tacit.decide import Bet, dutch_book


def main():
    bet = Bet.on("x", 0.9, win=1)
    print(f"a belief of 0.9 takes a bet that wins {bet.if_true:.0f} or loses {-bet.if_false:.0f}")

    beliefs = {"rain": 0.6, "cold given rain": 0.9, "rain & cold": 0.3, "cold": 0.4}
    book = dutch_book(beliefs, stake=10)
    print(f"coherent: {book.coherent}; guaranteed loss with at most 10 tickets a bet: {book.loss:.2f}")
    for b in book.bets:
        verb = "buys" if b.stake > 0 else "sells"
        print(f"  {verb} {abs(b.stake):.2f} tickets on {b.event!r} at {b.price:.2f}")
    for rain in (True, False):
        for cold in (True, False):
            print(f"  rain {rain!s:5} cold {cold!s:5}: {book.payoff({'rain': rain, 'cold': cold}):.2f}")
    near = {text: round(value, 3) for text, value in book.nearest.items()}
    print(f"nearest coherent beliefs: {near}")
    return bet, book


def test_numbers():
    bet, book = main()
    assert round(bet.if_false, 9) == -9
    assert not book.coherent
    for rain in (True, False):
        for cold in (True, False):
            assert book.payoff({"rain": rain, "cold": cold}) <= -book.loss + 1e-9
    assert dutch_book(book.nearest).coherent


if __name__ == "__main__":
    main()
