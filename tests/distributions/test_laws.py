"""What every family must obey; a new family is one more line in CASES."""

import pickle
import warnings
from dataclasses import dataclass, fields

import numpy as np
import pytest
from scipy import integrate

from latently.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    ColumnError,
    Dirichlet,
    Distribution,
    Exponential,
    ExponentialFamily,
    Gamma,
    Gaussian,
    Multinomial,
    NegativeBinomial,
    NormalInverseWishart,
    Poisson,
    Product,
    Sums,
    VonMises,
)

COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
PAIR = [[1.0, 0.5], [0.5, 2.0]]


@dataclass(frozen=True)
class Case:
    """A distribution with parameters, its template, and what else is known about it."""

    known: Distribution
    template: Distribution | None = None
    prior: object = None
    outside: tuple[float, ...] = (np.inf, -np.inf)
    n_parameters: int = 0


NIW = NormalInverseWishart
CASES = {
    "full": Case(
        Gaussian([1.0, -2.0, 0.5], COVARIANCE), Gaussian(),
        NIW(np.zeros(3), 2.0, np.eye(3), 5.0), n_parameters=9,
    ),
    "diag": Case(
        Gaussian([1.0, -2.0], [2.0, 0.3], kind="diag"), Gaussian(kind="diag"),
        NIW([0, 0], 2.0, [1.0, 2.0], 4.0, kind="diag"), n_parameters=4,
    ),
    "spherical": Case(
        Gaussian([1.0, -2.0], 0.7, kind="spherical"), Gaussian(kind="spherical"),
        NIW([0, 0], 2.0, 1.5, 4.0, kind="spherical"), n_parameters=3,
    ),
    "one": Case(Gaussian(3.0, 4.0), Gaussian(), NIW([0.0], 1.0, [[1.0]], 3.0), n_parameters=2),
    "bernoulli": Case(Bernoulli([0.3, 0.8]), Bernoulli(), Beta(2, 3), (2, 0.5, -1, np.inf), 2),
    "categorical": Case(
        Categorical([0.2, 0.5, 0.3]), Categorical(n_categories=3),
        Dirichlet([2, 3, 1.5]), (3, -1, 0.5, np.inf), 2,
    ),
    "multinomial": Case(
        Multinomial([0.2, 0.5, 0.3], n_trials=6), Multinomial(n_trials=6),
        Dirichlet(2.0), (-1, 0.5, np.inf, 7), 2,
    ),
    "poisson": Case(Poisson([2.5, 0.4]), Poisson(), Gamma(2, 1), (-1, 1.5, np.inf), 2),
    "exponential": Case(Exponential([2.0, 0.5]), Exponential(), Gamma(3, 2), (-1, np.inf), 2),
    "gamma": Case(Gamma([2.0, 0.7], [3.0, 0.5]), Gamma(), None, (0, -1, np.inf), 4),
    "von mises": Case(VonMises([0.5, -3.0], [2.0, 0.7]), VonMises(), None, n_parameters=4),
    "negative binomial": Case(
        NegativeBinomial([2.5, 9.0], [1.5, 4.0]), NegativeBinomial(), None, (-1, 1.5, np.inf), 4
    ),
    "product": Case(
        Product([(Gaussian([0.0, 1.0], PAIR), [2, 0]), (Poisson(3.0), 1), (Categorical([0.4, 0.6]), 3)]),
        Product([(Gaussian(), [2, 0]), (Poisson(), 1), (Categorical(n_categories=2), 3)]),
        [NIW([0, 0], 1.0, np.eye(2), 4.0), None, Dirichlet(1.5)], (np.inf,), 7,
    ),
    "beta": Case(Beta([2.0, 0.8], [3.0, 1.5]), outside=(-0.1, 1.1), n_parameters=4),
    "dirichlet": Case(Dirichlet([2.0, 3.0, 1.5]), outside=(-0.1, 2.0), n_parameters=3),
    "niw full": Case(NIW([1.0, -1.0], 2.0, [[9.0, 2.0], [2.0, 7.0]], 12.0), n_parameters=7),
    "niw diag": Case(NIW([1.0, -1.0], [2.0, 3.0], [9.0, 7.0], [12.0, 14.0], kind="diag"), n_parameters=8),
    "niw spherical": Case(NIW([1.0, -1.0], [2.0, 3.0], 9.0, 12.0, kind="spherical"), n_parameters=6),
}  # fmt: skip
LEARNING = {name: case for name, case in CASES.items() if case.template is not None}
EXPONENTIAL = {name: case for name, case in LEARNING.items() if isinstance(case.known, ExponentialFamily)}


def cases(table):
    return pytest.mark.parametrize("case", table.values(), ids=table.keys())


def draw(case, n=200, seed=0):
    return case.known.sample(n, random_state=seed)


def arrays(value):
    """All arrays of parameters or statistics, in order."""
    if isinstance(value, np.ndarray | float):
        return [np.asarray(value)]
    if isinstance(value, tuple | list):
        return [a for v in value for a in arrays(v)]
    return (
        [a for f in fields(value) for a in arrays(getattr(value, f.name))]
        if hasattr(value, "__dataclass_fields__")
        else []
    )


def assert_close(a, b, rtol=1e-10, atol=1e-12):
    pairs = list(zip(arrays(a), arrays(b), strict=True))
    assert pairs
    for x, y in pairs:
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol)


def assert_same_fit(template, one, other, **tolerance):
    assert_close(template.from_statistics(one), template.from_statistics(other), **tolerance)


# the distribution itself


@cases(CASES)
def test_shapes(case):
    X = draw(case, 7)
    d = case.known.n_columns
    assert X.shape == (7, d)
    assert case.known.log_prob(X).shape == (7,)
    assert case.known.mean.shape == case.known.variance.shape == (d,)
    assert case.known.n_parameters == case.n_parameters
    assert case.known.log_prob(X[:0]).shape == (0,)
    assert np.isfinite(case.known.log_prob(X)).all()


@cases(CASES)
def test_prob_is_exp_of_log_prob(case):
    X = draw(case, 5)
    np.testing.assert_allclose(case.known.prob(X), np.exp(case.known.log_prob(X)))


@cases(CASES)
def test_equality_and_hash_go_by_value(case):
    twin = pickle.loads(pickle.dumps(case.known))
    assert twin == case.known
    assert hash(twin) == hash(case.known)
    others = [c.known for c in CASES.values() if c is not case]
    assert all(case.known != other for other in others)


@cases(CASES)
def test_parameters_are_read_only(case):
    for array in arrays([getattr(case.known, f.name) for f in fields(case.known)]):
        assert not array.flags.writeable
        assert array.dtype == np.float64


@cases(CASES)
def test_sampling_moments(case):
    n = 40_000
    X = draw(case, n, seed=1)
    error = np.sqrt(case.known.variance / n)
    assert (np.abs(X.mean(axis=0) - case.known.mean) < 5 * error).all()
    square = (X - case.known.mean) ** 2
    assert (np.abs(square.mean(axis=0) - case.known.variance) < 5 * square.std(axis=0) / np.sqrt(n)).all()


@cases(CASES)
def test_entropy_is_the_expected_surprise(case):
    n = 40_000
    surprise = -case.known.log_prob(draw(case, n, seed=2))
    assert abs(surprise.mean() - case.known.entropy()) < 5 * surprise.std() / np.sqrt(n) + 1e-12


@cases(CASES)
def test_mode_is_a_local_maximum(case):
    if isinstance(case.known, Beta | Gamma) and (np.minimum(*arrays(case.known)[:2]) < 1).any():
        with pytest.raises(ColumnError, match="no mode"):
            _ = case.known.mode
        return
    assert case.known.mode.shape == (case.known.n_columns,)
    top = case.known.log_prob(case.known.mode[None])
    assert (case.known.log_prob(draw(case, 500, seed=3)) <= top + 1e-12).all()


@cases(CASES)
def test_seeds(case):
    np.testing.assert_array_equal(case.known.sample(4, random_state=5), case.known.sample(4, random_state=5))
    state = np.random.RandomState(0)
    assert not np.array_equal(case.known.sample(50, state), case.known.sample(50, state))
    assert case.known.sample(0).shape == (0, case.known.n_columns)
    with pytest.raises(ValueError, match="whole number"):
        case.known.sample(-1)


@cases(CASES)
def test_outside_the_support_is_minus_infinity(case):
    for value in case.outside:
        X = draw(case, 3)
        X[1, -1] = value
        log_prob = case.known.log_prob(X)
        assert log_prob[1] == -np.inf
        assert np.isfinite(log_prob[[0, 2]]).all()


@cases(CASES)
def test_wrong_width_is_an_error(case):
    with pytest.raises(ValueError, match="columns"):
        case.known.log_prob(np.ones((2, case.known.n_columns + 1)))


CONTINUOUS = [
    Gaussian(3.0, 4.0),
    Exponential(2.0),
    Gamma(2.0, 3.0),
    Gamma(0.5, 1.0),
    Beta(2.0, 3.0),
    Beta(0.7, 0.6),
    VonMises(2.0, 0.0),
    VonMises(2.0, 3.0),
    VonMises(-3.0, 400.0),
]
DISCRETE = [
    Bernoulli(0.3),
    Categorical([0.2, 0.0, 0.8]),
    Poisson(4.0),
    Poisson(0.0),
    NegativeBinomial(2.0, 5.0),
    NegativeBinomial(0.0, 1.0),
    Multinomial([0.2, 0.5, 0.3], n_trials=5),
]


@pytest.mark.parametrize("p", CONTINUOUS, ids=str)
def test_densities_integrate_to_one(p):
    low, mid, high = p.quantile([0.0, 0.3, 1.0])[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", integrate.IntegrationWarning)  # poles at the ends slow it down
        total = sum(integrate.quad(lambda x: p.prob([x])[0], a, b)[0] for a, b in [(low, mid), (mid, high)])
    assert total == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("p", DISCRETE, ids=str)
def test_probabilities_sum_to_one(p):
    counts = np.arange(40.0)
    X = counts[:, None] if p.n_columns == 1 else np.array([[i, j, 5 - i - j] for i in range(6) for j in range(6 - i)])
    assert p.prob(X).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("p", CONTINUOUS + DISCRETE[:6], ids=str)
def test_quantile_inverts_cdf(p):
    q = np.array([0.01, 0.2, 0.5, 0.77, 0.99])
    x = p.quantile(q)[:, 0]
    assert x.shape == (5,)
    if p.discrete[0]:
        assert (p.cdf(x) >= q - 1e-12).all()
        assert (p.cdf(x - 1) < q).all()
    else:
        np.testing.assert_allclose(p.cdf(x), q, rtol=1e-9)
    assert p.interval(0.9).shape == (2, 1)
    np.testing.assert_allclose(p.interval(0.9), p.quantile([0.05, 0.95]), rtol=1e-12)
    assert np.isnan(p.cdf([np.nan])[0])


# missing values


@cases(LEARNING)
def test_a_missing_entry_leaves_the_marginal(case):
    X = draw(case, 6)
    for column in range(case.known.n_columns):
        Y = X.copy()
        Y[:, column] = np.nan
        rest = [c for c in range(case.known.n_columns) if c != column]
        if isinstance(case.known, Multinomial):
            lumped = Multinomial([*case.known.probabilities[rest], case.known.probabilities[column]], n_trials=6)
            expected = lumped.log_prob(np.column_stack([X[:, rest], X[:, column]]))
        elif rest:
            expected = case.known.marginal(rest).log_prob(X[:, rest])
        else:
            expected = np.zeros(6)
        np.testing.assert_allclose(case.known.log_prob(Y), expected, rtol=1e-12, atol=1e-12)


@cases(LEARNING)
def test_an_empty_row_says_nothing(case):
    X = draw(case, 20)
    gap = np.full((3, X.shape[1]), np.nan)
    np.testing.assert_array_equal(case.known.log_prob(gap), 0)
    assert_close(case.template.statistics(X), case.template.statistics(np.vstack([gap, X])))
    assert_close(case.template.fit(X), case.template.fit(np.vstack([X, gap])))


# statistics and fits


@cases(LEARNING)
def test_statistics_of_chunks_add(case):
    X = draw(case)
    whole = case.template.statistics(X)
    chunks = [case.template.statistics(part) for part in np.array_split(X, [20, 21, 150])]
    assert_same_fit(case.template, chunks[0] + chunks[1] + chunks[2] + chunks[3], whole)
    assert_same_fit(case.template, whole - chunks[0], case.template.statistics(X[20:]), rtol=1e-9)


@cases(LEARNING)
def test_weights_equal_repeats(case):
    X = draw(case)
    times = np.random.default_rng(0).integers(0, 4, size=len(X))
    repeated = case.template.statistics(np.repeat(X, times, axis=0))
    assert_same_fit(case.template, case.template.statistics(X, times), repeated)
    expected = case.known.expected_statistics(np.repeat(X, times, axis=0))
    assert_same_fit(case.template, case.known.expected_statistics(X, times), expected)


@cases(LEARNING)
def test_row_order_does_not_matter(case):
    X = draw(case)
    assert_close(case.template.fit(X), case.template.fit(X[::-1]))


@cases(LEARNING)
def test_fit_recovers_the_parameters(case):
    found = case.template.fit(draw(case, 50_000))
    assert type(found) is type(case.known)
    assert_close(found, case.known, rtol=0.1, atol=0.05)


@cases(LEARNING)
def test_maximum_likelihood_beats_its_neighbours(case):
    X = draw(case, 60, seed=4)
    best = case.template.fit(X).log_prob(X).sum()
    rng = np.random.default_rng(0)
    for _ in range(20):
        near = case.template.fit(X, weights=rng.uniform(0.8, 1.2, size=60))
        assert near.log_prob(X).sum() < best
    assert case.known.log_prob(X).sum() < best


@cases(LEARNING)
def test_a_template_keeps_its_configuration_and_has_no_density(case):
    assert not case.template.is_fitted
    assert case.known.is_fitted
    for ask in (case.template.log_prob, case.template.sample):
        with pytest.raises(ValueError, match="template"):
            ask(draw(case, 2) if ask == case.template.log_prob else 2)
    with pytest.raises(ValueError, match="template"):
        case.template.entropy()
    fitted = case.template.fit(draw(case))
    assert fitted.from_statistics(fitted.statistics(draw(case))) == fitted


@cases(LEARNING)
def test_values_outside_the_support_are_named(case):
    for value in case.outside:
        X = draw(case, 3)
        X[1, -1] = value
        with pytest.raises(ColumnError, match=r"^column \d") as caught:
            case.template.statistics(X)
        if not isinstance(case.known, Multinomial):  # there the total of a row may be what is wrong
            assert caught.value.column == X.shape[1] - 1
            assert f"{value:g}" in str(caught.value)


@cases(LEARNING)
def test_no_rows_no_fit(case):
    X = draw(case, 4)
    for stats in (case.template.statistics(X[:0]), case.template.statistics(X, np.zeros(4))):
        with pytest.raises(ValueError, match="no observed values"):
            case.template.from_statistics(stats)
    np.testing.assert_allclose(
        case.template.from_statistics(case.template.statistics(X[:0]) + case.template.statistics(X), case.prior).mean,
        case.template.fit(X, prior=case.prior).mean,
    )


@cases(LEARNING)
def test_bad_weights(case):
    X = draw(case, 3)
    with pytest.raises(ValueError, match="shape"):
        case.template.statistics(X, [1.0])
    for weights in ([1, -1, 1], [1, np.nan, 1]):
        with pytest.raises(ValueError, match="not negative"):
            case.template.statistics(X, weights)


@cases(LEARNING)
def test_wrong_prior_and_wrong_statistics(case):
    X = draw(case, 30)
    with pytest.raises(TypeError, match="prior"):
        case.template.fit(X, prior=3)
    wrong = (
        Gaussian().statistics([1.0, 2.0])
        if not isinstance(case.known, Gaussian)
        else Product([(Poisson(), 0)]).statistics([1])
    )
    with pytest.raises(TypeError, match=r"statistics|Sums"):
        case.template.from_statistics(wrong)


# features


@cases(EXPONENTIAL)
def test_log_prob_is_linear_in_the_features(case):
    X = draw(case, 50)
    if len(case.known.blocks) > 1:
        X[::3, case.known.blocks[-1]] = np.nan
    X[5] = np.nan
    for origin in (None, np.linspace(-3, 5, X.shape[1])):
        F, eta = case.known.features(X, origin), case.known.natural(origin)
        assert F.dtype == eta.dtype == np.float64
        assert F.shape == (50, len(eta))
        assert np.isfinite(F).all()
        np.testing.assert_allclose(F @ eta + case.known.log_base(X), case.known.log_prob(X), rtol=1e-9, atol=1e-9)


@cases(EXPONENTIAL)
def test_summed_features_are_statistics(case):
    X = draw(case, 80)
    w = np.random.default_rng(0).uniform(size=80)
    expected = case.template.fit(X, w)
    assert_close(case.template.from_statistics(Sums(w @ case.template.features(X))), expected, rtol=1e-9)
    origin = X.mean(axis=0)
    record = case.template.record(w @ case.template.features(X, origin), origin=origin)
    assert_close(case.template.from_statistics(record), expected, rtol=1e-9)


@cases(EXPONENTIAL)
def test_features_outside_the_support(case):
    for value in case.outside:
        X = draw(case, 3)
        X[1, -1] = value
        np.testing.assert_array_equal(case.known.features(X)[1], 0)
        assert case.known.log_base(X)[1] == -np.inf


@pytest.mark.parametrize(
    "p", [Bernoulli([0.0, 1.0]), Categorical([1.0, 0.0]), Poisson(0.0), Multinomial([0.0, 1.0])], ids=str
)
def test_natural_is_finite_where_probabilities_are_zero(p):
    assert np.isfinite(p.natural()).all()
    X = np.ones((1, p.n_columns))
    assert p.log_prob(X) == -np.inf
    assert p.features(X) @ p.natural() + p.log_base(X) < -1e11
