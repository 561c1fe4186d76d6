"""Laws about one distribution: its density, cdf, quantiles, moments and draws agree with each other."""

import warnings
from contextlib import suppress
from itertools import pairwise
from unittest import SkipTest

import numpy as np

from latently.checks.distributions.case import DRAWS, ERRORS, DistributionCase, assert_near, law, offered
from latently.distributions import Distribution
from latently.distributions.inputs import Array

LONGEST = 1_000_000
"""Values of a discrete column that a sum goes over at most."""


def _mass(single: Distribution, low: float, high: float, cuts: Array) -> float:
    """Probability between two values, by the density: an integral, or a sum over whole numbers above `low`."""
    if single.discrete[0]:
        values = np.arange(np.floor(low) + 1, np.floor(high) + 1)
        return float(single.prob(values[:, None]).sum())
    from scipy import integrate  # here, since loading it takes long

    edges = [low, *np.unique(cuts[(cuts > low) & (cuts < high)]), high]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", integrate.IntegrationWarning)  # poles at the ends slow it down
        pieces = [
            integrate.quad(lambda x: float(single.prob(np.array([[x]]))[0]), a, b, limit=200)[0]
            for a, b in pairwise(edges)
        ]
    return float(sum(pieces))


def _ends(single: Distribution, drawn: Array) -> tuple[float, float]:
    """Ends of a column's values: those of its support, or so far beyond the draws that nothing is left there."""
    low, high = (float(end) for end in single.support[:, 0])
    with suppress(TypeError):
        low, high = (float(x) for x in single.quantile([0.0, 1.0])[:, 0])
    if single.discrete[0]:
        spread = float(np.ptp(drawn)) + 10
        reach = max(drawn.min() - 60 * spread, -LONGEST), min(drawn.max() + 60 * spread, LONGEST)
        return max(low - 1, reach[0]), min(high, reach[1])
    return low, high


@law()
def law_density_sums_to_one(case: DistributionCase) -> None:
    """Densities integrate to one, probabilities sum to one, in each column by itself."""
    tried = False
    for single, drawn in case.singles():
        low, high = _ends(single, drawn)
        total = _mass(single, low, high, np.quantile(drawn, [0.01, 0.3, 0.7, 0.99]))
        assert abs(total - 1) < 1e-5, f"the density of a column sums to {total}"
        tried = True
    if not tried:
        raise SkipTest("columns have no distribution of their own")


@law(lambda case: case.known.n_columns > 1)
def law_columns_multiply(case: DistributionCase) -> None:
    """p(x, y) is p(x) p(y | x), where there are marginals and conditionals."""
    first = offered(case.known.marginal, 0)
    rest = list(range(1, case.known.n_columns))
    for row in case.rows[:10]:
        other = offered(case.known.conditional, 0, row[0])
        both = first.log_prob(row[None, :1]) + other.log_prob(row[None, rest])
        assert_near(case.known.log_prob(row[None]), both, "log p(x, y) and log p(x) + log p(y | x)")


@law()
def law_outside_the_support_is_impossible(case: DistributionCase) -> None:
    """Rows with an infinite value, or one beyond the support, have log probability -inf, and none is NaN."""
    low, high = case.known.support[:, -1]
    beyond = [np.inf, -np.inf, *([low - 1] if np.isfinite(low) else []), *([high + 1] if np.isfinite(high) else [])]
    for value in beyond:
        X = case.rows[:3].copy()
        X[1, -1] = value
        found = case.known.log_prob(X)
        assert found[1] == -np.inf, f"log_prob is {found[1]} for a row with {value}"
        assert np.isfinite(found[[0, 2]]).all(), f"a row with {value} changes the log_prob of others: {found}"


@law()
def law_missing_entries_are_integrated_out(case: DistributionCase) -> None:
    """Log probabilities of rows with missing entries are those of the observed columns; of an empty row, 0."""
    d = case.known.n_columns
    assert_near(case.known.log_prob(np.full((2, d), np.nan)), [0.0, 0.0], "log_prob of rows with nothing observed")
    if d == 1:
        return
    X = case.rows[:20].copy()
    X[:, 0] = np.nan
    rest = offered(case.known.marginal, list(range(1, d)))
    assert_near(case.known.log_prob(X), rest.log_prob(X[:, 1:]), "log_prob without a column, and of the others")


@law()
def law_cdf_adds_up_the_density(case: DistributionCase) -> None:
    """Differences of the cdf are integrals (sums) of the density; it rises from 0 to 1, and NaN stays NaN."""
    for single, drawn in case.singles():
        cuts = np.quantile(drawn, [0.05, 0.3, 0.5, 0.8, 0.97])
        heights = offered(single.cdf, cuts)
        assert (np.diff(heights) >= 0).all(), f"the cdf falls: {heights}"
        assert ((heights >= 0) & (heights <= 1)).all(), f"the cdf leaves 0 to 1: {heights}"
        assert np.isnan(single.cdf([np.nan])).all(), "the cdf of a missing value is a number"
        for (a, b), (p, q) in zip(pairwise(cuts), pairwise(heights), strict=True):
            assert_near(q - p, _mass(single, a, b, cuts), f"cdf({b:g}) - cdf({a:g}), and the density", 1e-6, 1e-7)


@law()
def law_quantile_inverts_the_cdf(case: DistributionCase) -> None:
    """Quantiles are the least values whose cdf reaches the level."""
    levels = np.array([0.01, 0.2, 0.5, 0.77, 0.99])
    for single, _ in case.singles():
        x = offered(single.quantile, levels)[:, 0]
        reached = single.cdf(x)
        if single.discrete[0]:
            assert (reached >= levels - 1e-9).all(), f"cdf(quantile({levels})) is {reached}"
            assert (single.cdf(x - 1) < levels + 1e-9).all(), f"quantile({levels}) is {x}: a lower value is enough"
        else:
            assert_near(reached, levels, "cdf(quantile(q)) and q", 1e-7)


@law()
def law_draws_follow_the_cdf(case: DistributionCase) -> None:
    """Shares of draws up to a value agree with the cdf (Kolmogorov and Smirnov), in each column."""
    for single, drawn in case.singles():
        values, counts = np.unique(drawn, return_counts=True)
        above = np.cumsum(counts) / DRAWS
        heights = offered(single.cdf, values)
        gap = np.abs(above - heights)
        if not single.discrete[0]:
            gap = np.maximum(gap, np.abs(above - counts / DRAWS - heights))
        worst = int(gap.argmax())
        assert gap[worst] < 2.7 / np.sqrt(DRAWS), (  # by chance once in a million
            f"{above[worst]:.3f} of the draws are up to {values[worst]:g}, and the cdf is {heights[worst]:.3f}"
        )


@law()
def law_draws_have_the_moments(case: DistributionCase) -> None:
    """Means and variances of draws agree with `mean` and `variance`; seeds give the same draws again."""
    X, mean, variance = case.draws, np.asarray(case.known.mean), np.asarray(case.known.variance)
    assert X.shape == (DRAWS, case.known.n_columns), f"sample({DRAWS}) has shape {X.shape}"
    assert np.array_equal(X, case.known.sample(DRAWS, random_state=1)), "the same seed gives other draws"
    assert np.isfinite(case.known.log_prob(X)).all(), "a draw has no probability"
    squares = (X - mean) ** 2
    pairs = (
        (X.mean(axis=0), mean, np.sqrt(variance), "mean"),
        (squares.mean(axis=0), variance, squares.std(axis=0), "variance"),
    )
    for found, expected, spread, what in pairs:
        off = np.abs(found - expected) > ERRORS * spread / np.sqrt(DRAWS) + 1e-12
        assert not off.any(), f"the {what} is {expected[off]}, that of {DRAWS} draws {found[off]}"


@law()
def law_entropy_is_the_expected_surprise(case: DistributionCase) -> None:
    """Entropies are the mean of -log p over draws."""
    surprise = -case.known.log_prob(case.draws)
    found, expected = surprise.mean(), offered(case.known.entropy)
    off = ERRORS * surprise.std() / np.sqrt(DRAWS) + 1e-9
    assert abs(found - expected) < off, f"the entropy is {expected}, the mean surprise of draws {found}"


@law()
def law_mode_is_the_most_probable_row(case: DistributionCase) -> None:
    """No draw is more probable than the mode, where there is one."""
    try:
        mode = case.known.mode
    except (TypeError, ValueError) as problem:
        raise SkipTest(str(problem)) from None
    top = float(case.known.log_prob(np.asarray(mode)[None])[0])
    best = int(np.argmax(case.known.log_prob(case.draws)))
    found = float(case.known.log_prob(case.draws[[best]])[0])
    assert found <= top + 1e-9 * (1 + abs(top)), f"{case.draws[best]} is more probable than the mode {mode}"


@law()
def law_divergence_is_zero_to_itself(case: DistributionCase) -> None:
    """`kl_divergence` is zero from a distribution to itself, and not below zero to another."""
    from latently.distributions import kl_divergence

    found, error = kl_divergence(case.known, case.known, return_error=True, random_state=0)  # type: ignore[misc]
    assert abs(found) < 1e-6 + ERRORS * error, f"the divergence to itself is {found}"
    if case.learns:
        other = case.known.fit(case.rows[:100])
        value, error = kl_divergence(case.known, other, return_error=True, random_state=0)  # type: ignore[misc]
        assert value >= 0, f"the divergence to {other} is {value}"
        gaps = case.known.log_prob(case.draws) - other.log_prob(case.draws)
        off = abs(value - gaps.mean())
        allowed = ERRORS * (gaps.std() / np.sqrt(DRAWS) + error) + 1e-9
        assert off < allowed or np.isinf(value), f"the divergence is {value}, by draws {gaps.mean()}"
