"""Our distributions keep every law that binds them; each law is broken by a family that is wrong in that way."""

from dataclasses import dataclass
from unittest import SkipTest

import numpy as np
import pytest
from tests.checks import wrong_families as wrong

import latently.distributions as ours
from latently.checks import check_distribution, distribution_checks
from latently.checks.distributions.case import LAWS
from latently.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Distribution,
    Exponential,
    ExponentialFamily,
    Family,
    Gamma,
    Gaussian,
    MixtureDistribution,
    Multinomial,
    NegativeBinomial,
    NormalInverseWishart,
    Poisson,
    Product,
    VonMises,
)

PAIR = [[1.0, 0.5], [0.5, 2.0]]
KNOWN = [
    Gaussian([1.0, -2.0, 0.5], [[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]]),
    Gaussian([1.0, -2.0], [2.0, 0.3], kind="diag"),
    Gaussian([1.0, -2.0], 0.7, kind="spherical"),
    Gaussian(1e6, 4.0),
    Bernoulli([0.3, 0.8]),
    Categorical([0.2, 0.5, 0.3]),
    Multinomial([0.2, 0.5, 0.3], n_trials=6),
    Poisson([2.5, 0.4]),
    Exponential([2.0, 0.5]),
    Gamma([2.0, 0.7], [3.0, 0.5]),
    VonMises([0.5, -3.0], [2.0, 0.7]),
    VonMises(1.0, 300.0),
    NegativeBinomial([2.5, 9.0], [1.5, 4.0]),
    NegativeBinomial(40.0, 0.3),
    Product([(Gaussian([0.0, 1.0], PAIR), [2, 0]), (Poisson(3.0), 1), (Categorical([0.4, 0.6]), 3)]),
    MixtureDistribution([0.4, 0.6], [Poisson(1.0), Poisson(9.0)]),
    Beta([2.0, 0.8], [3.0, 1.5]),
    Dirichlet([2.0, 3.0, 1.5]),
    NormalInverseWishart([1.0, -1.0], 2.0, [[9.0, 2.0], [2.0, 7.0]], 12.0),
]
EXPECTED = {
    MixtureDistribution: {
        "law_empty_rows_say_nothing": "one step of EM: an empty row belongs to the components as the weights say"
    },
    NormalInverseWishart: {"law_missing_entries_are_integrated_out": "its rows are parameters, which are not missing"},
}


@pytest.mark.parametrize("distribution", KNOWN, ids=str)
def test_our_distributions_keep_the_laws(distribution):
    kept = check_distribution(distribution, expected_failed_checks=EXPECTED.get(type(distribution)))
    assert {"law_entropy_is_the_expected_surprise", "law_density_sums_to_one"} & {*kept}
    if isinstance(distribution, Family):
        assert {"law_statistics_of_chunks_add", "law_fit_maximises_the_likelihood", "law_weights_are_repeats"} <= {
            *kept
        }


def test_none_of_ours_is_left_out():
    abstract = {Distribution, Family, ExponentialFamily, ours.Prior}
    public = {getattr(ours, name) for name in ours.__all__}
    assert {cls for cls in public if isinstance(cls, type) and issubclass(cls, Distribution)} - abstract == {
        type(known) for known in KNOWN
    }


WRONG = {
    wrong.TooHigh: "law_density_sums_to_one",
    wrong.NoEdge: "law_outside_the_support_is_impossible",
    wrong.MissingIsZero: "law_missing_entries_are_integrated_out",
    wrong.CdfTooLow: "law_cdf_adds_up_the_density",
    wrong.QuantileTooLow: "law_quantile_inverts_the_cdf",
    wrong.DrawsTooFar: "law_draws_follow_the_cdf",
    wrong.VarianceOfTheScale: "law_draws_have_the_moments",
    wrong.NoEntropyOfTheScale: "law_entropy_is_the_expected_surprise",
    wrong.ModeIsMean: "law_mode_is_the_most_probable_row",
    wrong.FarFromItself: "law_divergence_is_zero_to_itself",
    wrong.MeansInsteadOfSums: "law_statistics_of_chunks_add",
    wrong.NoWeights: "law_weights_are_repeats",
    wrong.EmptyRowsCount: "law_empty_rows_say_nothing",
    wrong.OffByALittle: "law_fit_maximises_the_likelihood",
    wrong.LosesItsKind: "law_fit_leaves_the_family_as_it_was",
    wrong.InfinityIsZero: "law_bad_rows_are_named",
    wrong.OtherNatural: "law_log_prob_is_linear_in_the_features",
    wrong.LosesABit: "law_a_copy_is_equal",
}


@pytest.mark.parametrize(("cls", "name"), WRONG.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_each_law_catches_a_family_that_breaks_it(cls, name):
    with pytest.raises(AssertionError):
        dict(distribution_checks(cls([2.0, 0.5])))[name]()


def test_a_wrong_conditional_is_caught():
    with pytest.raises(AssertionError, match=r"log p\(x, y\)"):
        dict(distribution_checks(wrong.ForgetsWhatIsGiven([0.0, 0.0], PAIR)))["law_columns_multiply"]()


def test_every_law_has_a_family_that_breaks_it():
    assert {law.name for law in LAWS} == {*WRONG.values(), "law_columns_multiply"}


# running


def test_all_that_is_broken_is_listed():
    with pytest.raises(
        AssertionError, match=r"breaks \d+ laws:\n(.*\n)*law_density_sums_to_one: AssertionError: the dens"
    ):
        check_distribution(wrong.TooHigh(2.0))


def test_an_expected_failure_that_does_not_happen_is_one():
    with pytest.raises(AssertionError, match="law_density_sums_to_one: is kept, although"):
        check_distribution(Poisson(2.0), expected_failed_checks={"law_density_sums_to_one": "no reason"})


def test_templates_need_rows():
    assert "law_statistics_of_chunks_add" in check_distribution(Poisson(), X=[0, 1, 5])
    assert "law_statistics_of_chunks_add" in check_distribution(Poisson, X=[0, 1, 5])
    with pytest.raises(ValueError, match="template: give it parameters, or rows X"):
        check_distribution(Poisson())


@dataclass(frozen=True, eq=False)
class Unfinished(Family):
    rate: np.ndarray = None

    def _width(self):
        return 1


def test_missing_methods_are_named():
    with pytest.raises(TypeError, match=r"Unfinished lacks .*_log_prob, .*from_statistics, statistics"):
        check_distribution(Unfinished)
    with pytest.raises(TypeError, match="_log_prob"):
        Unfinished(1.0)
    with pytest.raises(TypeError, match="float is no distribution: derive it"):
        check_distribution(3.0)


def test_what_a_distribution_lacks_is_left_out():
    checks = dict(distribution_checks(Multinomial([0.2, 0.8], n_trials=3)))
    with pytest.raises(SkipTest, match="no marginal"):
        checks["law_columns_multiply"]()
    assert "law_weights_are_repeats" not in dict(distribution_checks(Beta(1.0, 2.0)))
