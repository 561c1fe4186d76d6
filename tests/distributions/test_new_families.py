"""A family is one file and one line: what learning by gradient, bounds, errors and saved states ask of it, for two.

That every model takes them, by name too, is in `tests/test_families_everywhere.py`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import optimize, stats

from latently import load, save
from latently.cluster import Mixture
from latently.distributions import Beta, Family, NegativeBinomial, PseudoRows, VonMises
from latently.distributions.base import UNSET
from latently.distributions.columns import Columns
from latently.distributions.statistics import Sums
from latently.distributions.unconstrained import Reader
from latently.learn import checkpointing
from latently.sequence import HiddenMarkovModel

FAMILIES = {"von_mises": VonMises(2.0, 5.0), "negative_binomial": NegativeBinomial(30.0, 4.0)}
OTHERS = {"von_mises": VonMises(-1.0, 2.0), "negative_binomial": NegativeBinomial(3.0, 1.0)}
SECOND = {"von_mises": "concentration", "negative_binomial": "size"}


@pytest.fixture(params=sorted(FAMILIES))
def name(request):
    return request.param


def rows(name, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([FAMILIES[name].sample(n, rng), OTHERS[name].sample(n, rng)])


def test_the_vector_is_read_back(name):
    member = FAMILIES[name]
    again = member.unpack(Reader(member.pack()))
    for parameter in member.PARAMETERS:
        np.testing.assert_allclose(getattr(again, parameter), getattr(member, parameter), rtol=1e-14)


def test_the_likelihood_of_statistics_is_that_of_the_rows_and_its_gradient_is_zero_at_the_fit(name):
    X = rows(name)
    member = FAMILIES[name]
    assert member.log_likelihood(member.statistics(X)) == pytest.approx(member.log_prob(X).sum(), rel=1e-12)
    fitted = member.fit(X)
    assert np.abs(fitted.gradient(fitted.statistics(X))).max() < 1e-4 * len(X)
    assert np.abs(member.gradient(member.statistics(X))).max() > 1e-2 * len(X)


def test_a_mixture_by_gradient_is_that_by_em(name):
    X = rows(name)
    settings = {"families": name, "random_state": 0, "max_iter": 2000}
    by_em = Mixture(2, tol=1e-9, **settings).fit(X)
    by_gradient = Mixture(2, method="gradient", tol=1e-6, **settings).fit(X)
    assert by_gradient.converged_
    assert by_gradient.score(X) == pytest.approx(by_em.score(X), abs=1e-6)
    assert (np.diff(by_gradient.lower_bounds_) >= -1e-9).all()


def test_bounds_are_kept_and_the_best_inside_them_is_found(name):
    X, parameter = rows(name, 300), SECOND[name]
    low, high = 2.5, 3.5
    free = Mixture(1, families=name, max_iter=50).fit(X)
    value = getattr(free.components_[0], parameter)[0]
    assert not low <= value <= high
    bound = Mixture(1, families=name, bounds={0: {parameter: (low, high)}}, max_iter=50).fit(X)
    found = bound.components_[0]
    assert getattr(found, parameter)[0] == pytest.approx(low if value < low else high, rel=1e-9)
    # no other member inside is more likely: against scipy on a grid of the first parameter
    first = found.PARAMETERS[0]
    grid = getattr(found, first)[0] + np.linspace(-0.3, 0.3, 61)
    at = getattr(found, parameter)[0]
    if name == "von_mises":
        logs = [stats.vonmises(at, loc=g).logpdf(X).sum() for g in grid]
    else:
        logs = [stats.nbinom(at, at / (at + g)).logpmf(X).sum() for g in grid]
    assert found.log_prob(X).sum() >= max(logs) - 1e-6
    with pytest.raises(ValueError, match=f"has no 'width' for bounds: it has .*{parameter}"):
        Mixture(1, families=name, bounds={0: {"width": (0, 1)}}).fit(X)


def test_a_parameter_is_fixed_by_name_and_not_counted(name):
    X, parameter = rows(name, 200), SECOND[name]
    free = Mixture(2, families=name, random_state=0).fit(X)
    fixed = Mixture(2, families=name, fixed={1: {0: {parameter: 3.0}}}, random_state=0).fit(X)
    assert getattr(fixed.components_[1], parameter)[0] == 3.0
    assert getattr(fixed.components_[0], parameter)[0] != 3.0
    assert fixed._n_parameters() == free._n_parameters() - 1


def test_a_fit_goes_on_from_a_checkpoint(name, tmp_path):
    X = rows(name)
    settings = {"families": name, "random_state": 0, "tol": 1e-9, "max_iter": 200}
    plain = Mixture(2, **settings).fit(X)
    seen = []
    with checkpointing(tmp_path, 3):
        Mixture(2, **settings).fit(X, on_iteration=lambda step: step.iteration >= 7)
    with checkpointing(tmp_path, 3):
        again = Mixture(2, **settings).fit(X, on_iteration=lambda step: seen.append(step.iteration))
    assert len(seen) < plain.n_iter_
    np.testing.assert_array_equal(again.predict_proba(X), plain.predict_proba(X))


def test_standard_errors_of_one_state_are_those_of_its_likelihood(name):
    X = FAMILIES[name].sample(500, np.random.default_rng(1))
    model = HiddenMarkovModel(1, name, n_iter=20, tol=1e-12).fit(X)
    found = model.standard_errors(X)["means_"][0, 0]
    part = model.emissions_[0]
    if name == "negative_binomial":  # mean and size are orthogonal: the error is that of a mean
        assert found == pytest.approx(np.sqrt(part.variance[0] / len(X)), rel=1e-5)
    else:  # the observed information of a direction is the concentration times the sum of cosines
        information = part.concentration[0] * np.cos(X - part.direction).sum()
        assert found == pytest.approx(1 / np.sqrt(information), rel=1e-5)


@dataclass(frozen=True, eq=False)
class Wedge(Columns, Family):
    """Density 2 x / top^2 up to the top; its author has written what EM takes, and no more."""

    top: np.ndarray = UNSET

    PARAMETERS: ClassVar[tuple[str, ...]] = ("top",)

    def _outside(self, X):
        return X <= 0

    def _column_log_prob(self, X):
        return np.where((X > 0) & (self.top >= X), np.log(2 * np.abs(X) + 1e-300) - 2 * np.log(self.top), -np.inf)

    def _mean(self):
        return 2 * self.top / 3

    def _variance(self):
        return self.top**2 / 18

    def _mode(self):
        return self.top

    def _column_entropy(self):
        return np.log(self.top / 2) + 0.5

    def _sample(self, n, rng):
        return self.top * np.sqrt(rng.random((n, len(self.top))))

    def statistics(self, X, weights=None):
        X = np.asarray(X, dtype=float)
        w = np.ones(len(X)) if weights is None else np.asarray(weights)
        return Sums(np.array([(w * X[:, 0]).sum(), w.sum()]))

    def from_statistics(self, stats, prior=None):
        return Wedge(np.array([1.5 * stats.total[0] / stats.total[1]]))


@pytest.mark.parametrize(
    ("ask", "method"),
    [
        (lambda m, X: Mixture(1, families=Wedge(), method="gradient", tol=0.0).fit(X), "SCALES"),
        (lambda m, X: m.impute_interval(np.vstack([X, [[np.nan]]])), "_quantile"),
        (lambda m, X: m.components_[0].cdf([0.5]), "_cdf"),
        (lambda m, X: m.components_[0].log_likelihood(Sums(np.ones(2))), "log_likelihood"),
    ],
)
def test_what_a_family_lacks_is_told_by_name_when_it_is_asked_for(ask, method):
    X = np.sqrt(np.random.default_rng(0).random((300, 1)))
    mixture = Mixture(1, families=Wedge()).fit(X)
    with pytest.raises(TypeError, match=f"Wedge has no .*does not define `{method}`"):
        ask(mixture, X)


def test_a_family_without_a_density_is_refused_when_it_is_made():
    class Empty(Family):
        pass

    with pytest.raises(TypeError, match="_log_prob"):
        Empty()


@pytest.mark.parametrize("concentrations", [(20.0, 20.0), (50.0, 3.0)])
def test_an_imputed_angle_is_the_mean_direction_and_not_the_mean_number(concentrations):
    # two clusters on both sides of half a turn, and a column that tells nothing of them
    rng = np.random.default_rng(0)
    angles = [VonMises(direction, k).sample(300, rng) for direction, k in zip((2.8, -2.8), concentrations, strict=True)]
    X = np.column_stack([np.concatenate(angles), np.tile([0.0, 1.0], 300)])
    X[:, 0] = np.where(X[:, 0] < -np.pi, X[:, 0] + 2 * np.pi, X[:, 0])
    model = Mixture(2, families={0: "von_mises"}, random_state=0).fit(X)
    found = model.impute_mean([[np.nan, np.nan]])[0, 0]
    expected = np.arctan2(np.sin(X[:, 0]).sum(), np.cos(X[:, 0]).sum())
    assert np.cos(found - expected) == pytest.approx(1.0, abs=1e-4)
    assert abs(found) > 2.5
    chain = HiddenMarkovModel(2, VonMises(), random_state=0).fit(X[:, :1])
    gap = X[:, :1].copy()
    gap[300] = np.nan
    assert abs(chain.impute_mean(gap)[300, 0]) > 2


def test_angles_with_pseudo_rows_are_the_fit_to_all_of_them():
    X, pseudo = VonMises(2.0, 5.0).sample(50, np.random.default_rng(3)), np.array([[1.0], [1.4], [2.9]])
    fitted = VonMises().fit(X, prior=PseudoRows.of(VonMises(), pseudo))
    concentration, direction, _ = stats.vonmises.fit(np.concatenate([X, pseudo])[:, 0], fscale=1)
    assert fitted.direction[0] == pytest.approx(direction, rel=1e-6)
    assert fitted.concentration[0] == pytest.approx(concentration, rel=1e-6)


def test_counts_with_pseudo_rows_are_at_the_peak_that_a_search_finds():
    X, pseudo, weights = np.array([0, 3, 9, 4, 1, 30]), np.array([2, 12]), np.array([0.5, 2.0])
    fitted = NegativeBinomial().fit(X, prior=PseudoRows.of(NegativeBinomial(), pseudo, weights))

    def loss(v):
        mean, size = np.exp(v)
        found = stats.nbinom(size, size / (size + mean))
        return -found.logpmf(X).sum() - weights @ found.logpmf(pseudo)

    best = optimize.minimize(loss, [1.0, 0.0], tol=1e-12)
    np.testing.assert_allclose([fitted.mean[0], fitted.size[0]], np.exp(best.x), rtol=1e-5)


def test_models_take_pseudo_rows_and_their_objective_holds_them(name):
    X, family = rows(name), FAMILIES[name]
    prior = PseudoRows.of(type(family)(), OTHERS[name].sample(30, np.random.default_rng(1)))
    one = Mixture(1, families=name, prior={0: prior}).fit(X)
    for parameter in family.PARAMETERS:
        expected = getattr(type(family)().fit(X, prior=prior), parameter)
        np.testing.assert_allclose(getattr(one.components_[0], parameter), expected, rtol=1e-6)
    member = one.components_[0]
    found = member.log_prob(X).sum() + member.log_likelihood(prior.statistics)
    assert one.lower_bound_ * len(X) == pytest.approx(found, rel=1e-9)
    by_em, by_gradient = (
        Mixture(2, families=name, prior={0: prior}, method=how, random_state=0, tol=tol, max_iter=2000).fit(X)
        for how, tol in (("em", 1e-10), ("gradient", 1e-7))
    )
    assert by_gradient.lower_bound_ == pytest.approx(by_em.lower_bound_, abs=1e-6)
    states = HiddenMarkovModel(1, emission=type(family)(), emission_prior=prior, tol=1e-9, random_state=0).fit(X)
    for parameter in family.PARAMETERS:
        np.testing.assert_allclose(
            getattr(states.emissions_[0], parameter), getattr(one.components_[0], parameter), rtol=1e-6
        )


def test_a_mixture_with_pseudo_rows_is_saved_and_read_back(name, tmp_path):
    X = rows(name)
    prior = PseudoRows.of(type(FAMILIES[name])(), X[:5])
    mixture = Mixture(2, families=name, prior={0: prior}, random_state=0).fit(X)
    save(mixture, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), mixture.predict_proba(X))
    np.testing.assert_array_equal(again.partial_fit(X).weights_, mixture.partial_fit(X).weights_)


def test_counts_of_a_mixture_are_drawn_to_those_of_all_rows():
    """A component of zeros gives other counts a chance: one event in its rows and pseudo-rows."""
    X = np.concatenate([np.zeros(40), np.full(40, 20.0) + np.arange(40) % 9])[:, None]
    labels = np.repeat([0, 1], 40)
    drawn, plain = (Mixture(2, families="negative_binomial", prior=how).fit(X, labels=labels) for how in (None, "ml"))
    assert plain.components_[0].mean[0] == pytest.approx(0, abs=1e-12)
    # an event is worth 1 / mean rows
    assert drawn.components_[0].mean[0] == pytest.approx(1 / (40 + 1 / X.mean()), rel=1e-9)


def test_another_prior_is_refused_by_name(name):
    with pytest.raises(TypeError, match=f"prior of {type(FAMILIES[name]).__name__} must be PseudoRows, not Beta"):
        type(FAMILIES[name])().fit([1.0, 2.0, 4.0], prior=Beta(1.0, 1.0))
