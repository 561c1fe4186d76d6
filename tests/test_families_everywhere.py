"""A family is one file and one line, and every model takes it, by name too: shown by angles and scattered counts."""

import numpy as np
import pytest

import latently
from latently.cluster import Mixture
from latently.distributions import NegativeBinomial, VonMises
from latently.impute import Imputer
from latently.predict import NaiveBayes
from latently.sequence import HiddenMarkovModel

NAMES = {0: "von_mises", 1: "negative_binomial"}
TRUTH = [(VonMises(3.0, 5.0), NegativeBinomial(30.0, 4.0)), (VonMises(0.0, 2.0), NegativeBinomial(3.0, 1.0))]
HALF = 400


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.vstack([np.hstack([part.sample(HALF, rng) for part in both]) for both in TRUTH])
    X[:, 0] %= 2 * np.pi
    X[::19, 0] = X[::23, 1] = np.nan
    return X


def assert_found(pairs):
    """See that two components are those that the rows were drawn from, to the error of some 400 rows."""
    pairs = sorted(pairs, key=lambda pair: -pair[1].mean[0])
    for found, true in zip(pairs, TRUTH, strict=True):
        np.testing.assert_allclose(np.exp(1j * found[0].direction), np.exp(1j * true[0].direction), atol=0.15)
        np.testing.assert_allclose(found[0].concentration, true[0].concentration, rtol=0.25)
        np.testing.assert_allclose(found[1].mean, true[1].mean, rtol=0.15)
        np.testing.assert_allclose(found[1].size, true[1].size, rtol=0.4)


def parts(components):
    return [tuple(part for part, _ in component.parts) for component in components]


def test_mixture(table):
    mixture = Mixture(2, families=NAMES, random_state=0).fit(table)
    assert_found(parts(mixture.components_))
    assert (np.diff(mixture.lower_bounds_) >= -1e-9).all()
    given = Mixture(2, families={0: VonMises(), 1: NegativeBinomial()}, random_state=0).fit(table)
    np.testing.assert_array_equal(mixture.predict_proba(table), given.predict_proba(table))


def test_hidden_markov_model(table):
    for column, name in NAMES.items():
        model = HiddenMarkovModel(2, name, random_state=0).fit(table[:, [column]])
        states = model.predict(table[:, [column]])
        assert (states[:HALF] != states[-1]).mean() > 0.95
        assert (states[HALF:] == states[-1]).mean() > 0.95


def test_naive_bayes(table):
    model = NaiveBayes(families=NAMES).fit(table, np.repeat([0, 1], HALF))
    assert_found([tuple(group.members[k] for group in model.distributions_) for k in (0, 1)])
    assert model.score(table, np.repeat([0, 1], HALF)) > 0.95


def test_files_and_more_rows(table, tmp_path):
    mixture = Mixture(2, families=NAMES, random_state=0).fit(table)
    latently.save(mixture, tmp_path / "model.latently")
    loaded = latently.load(tmp_path / "model.latently")
    np.testing.assert_array_equal(loaded.predict_proba(table), mixture.predict_proba(table))
    before = mixture.score(table)
    assert loaded.partial_fit(table).forget(table).score(table) == pytest.approx(before, rel=0.01)


def test_dask(table):
    da = pytest.importorskip("dask.array")
    plain = Mixture(2, families=NAMES, random_state=0).fit(table)
    cut = Mixture(2, families=NAMES, random_state=0).fit(da.from_array(table, chunks=(170, 2)))
    np.testing.assert_allclose(cut.score_samples(table), plain.score_samples(table), rtol=1e-8, atol=1e-12)


def test_missing_values_are_filled(table):
    filled = Imputer(Mixture(2, families=NAMES, random_state=0)).fit(table).transform(table)
    assert np.isfinite(filled).all()
    low, high = Mixture(2, families=NAMES, random_state=0).fit(table).impute_interval(table, level=0.8)
    missing = np.isnan(table)
    assert (low[missing] < high[missing]).all()


def test_names_that_nobody_knows_are_told(table):
    for make in (Mixture(2, families={0: "vonmises"}), HiddenMarkovModel(2, "vonmises")):
        with pytest.raises((TypeError, ValueError), match="'?von_mises'?"):
            make.fit(table[:, :1])
    with pytest.raises(ValueError, match="column 'x0' must be one of .*'von_mises'"):
        NaiveBayes(families={0: "vonmises"}).fit(table, np.repeat([0, 1], HALF))
