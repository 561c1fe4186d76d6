"""A two-coin mixture, small enough to know everything about it."""

from dataclasses import dataclass

import numpy as np

from latently.learn import Statistics


@dataclass(frozen=True, eq=False)
class Coins:
    weight: float
    heads: np.ndarray


@dataclass(frozen=True)
class CoinSums(Statistics):
    first: float
    first_heads: float
    second: float
    second_heads: float


@dataclass(frozen=True)
class Seen(Statistics):
    calls: int
    visits: int


class TwoCoins:
    """Rows are one column of 0 and 1 tosses out of ten."""

    tosses = 10

    def log_joint(self, params, X):
        heads = X[:, :1]
        weights = np.log([params.weight, 1 - params.weight])
        return weights + heads * np.log(params.heads) + (self.tosses - heads) * np.log1p(-params.heads)

    def expect(self, params, chunk):
        joint = self.log_joint(params, chunk.X)
        norms = np.logaddexp(joint[:, 0], joint[:, 1])
        r, w, heads = np.exp(joint[:, 0] - norms), np.ones(len(joint)), chunk.X[:, 0]
        if chunk.weights is not None:
            w = chunk.weights
        a, b = w * r, w * (1 - r)
        return CoinSums(w.sum(), w @ norms, a.sum(), a @ heads, b.sum(), b @ heads)

    def update(self, params, s):
        heads = np.array([s.first_heads / s.first, s.second_heads / s.second]) / self.tosses
        return Coins(s.first / s.rows, heads)

    def log_prior(self, params):
        return 0.0


def tosses(n=500, seed=0):
    rng = np.random.default_rng(seed)
    p = np.where(rng.uniform(size=n) < 0.3, 0.2, 0.7)
    return rng.binomial(10, p)[:, None].astype(float)


START = Coins(0.5, np.array([0.4, 0.6]))
