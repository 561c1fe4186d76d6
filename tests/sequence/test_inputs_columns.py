"""Inputs as columns by name: of data frames, files and Dask collections; and inputs that say nothing, or the same."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import latently
from latently.data import open_source
from latently.distributions import Gaussian
from latently.sequence import GaussianHMM, HiddenMarkovModel
from latently.sequence.inputs.table import Spread, Units

LENGTHS = [60] * 10
NAMES = ["speed", "load"]


def table(seed=0):
    """Ten sequences of a column, with two inputs beside it, the first of which drives the chain."""
    rng = np.random.default_rng(seed)
    n = sum(LENGTHS)
    U = rng.standard_normal((n, 2))
    states = (np.convolve(U[:, 0], [0.5, 0.3, 0.2])[:n] > 0).astype(int)
    y = 3.0 * states + rng.standard_normal(n)
    y[rng.uniform(size=n) < 0.05] = np.nan
    return pd.DataFrame({"speed": U[:, 0], "y": y, "load": 100 + 5 * U[:, 1], "who": np.repeat(np.arange(10), 60)})


FRAME = table()
ROWS = FRAME[["speed", "y", "load"]]
MODEL = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=8, tol=0.0)


@pytest.fixture(scope="module")
def by_numbers():
    return clone(MODEL).fit(FRAME[["y"]].to_numpy(), LENGTHS, inputs=FRAME[NAMES].to_numpy())


@pytest.fixture(scope="module")
def by_names():
    return clone(MODEL).fit(ROWS, LENGTHS, inputs=NAMES)


def assert_same_model(model, other, rtol=1e-8):
    np.testing.assert_allclose(model.history_, other.history_, rtol=rtol)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.transmat_, other.transmat_, rtol=1e-6)
    assert model.n_parameters_ == other.n_parameters_


def test_columns_by_name_are_the_same_numbers(by_names, by_numbers):
    assert_same_model(by_names, by_numbers)
    assert by_names.feature_names_in_.tolist() == ["speed", "y", "load"]
    assert by_names.input_names_in_.tolist() == NAMES
    assert not hasattr(by_numbers, "input_names_in_")
    again = clone(MODEL).fit(pl.from_pandas(ROWS), LENGTHS, inputs=NAMES)
    assert_same_model(again, by_names)


def test_questions_find_the_columns_of_the_fit(by_names, by_numbers):
    X, given = FRAME[["y"]].to_numpy(), {"inputs": FRAME[NAMES].to_numpy()}
    for verb in (
        "score",
        "predict",
        "predict_proba",
        "filter",
        "bic",
        "aic",
        "icl",
        "score_sequences",
        "fisher_scores",
    ):
        own, other = getattr(by_names, verb)(ROWS, LENGTHS), getattr(by_numbers, verb)(X, LENGTHS, **given)
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6)
    own, other = by_names.decode(ROWS, LENGTHS, n_best=2), by_numbers.decode(X, LENGTHS, n_best=2, **given)
    np.testing.assert_allclose(own[0], other[0], rtol=1e-6)
    np.testing.assert_allclose(
        by_names.fixed_lag(ROWS, LENGTHS, lag=2), by_numbers.fixed_lag(X, LENGTHS, lag=2, **given), atol=1e-6
    )
    draws = {"n_paths": 3, "random_state": 0}
    assert by_names.sample_paths(ROWS, LENGTHS, **draws).shape == (3, 600)
    assert by_names.predict(ROWS, LENGTHS, inputs=NAMES).shape == (600,)
    fine = clone(MODEL).set_params(n_iter=500, tol=1e-5)  # errors are those of a maximum
    errors = clone(fine).fit(ROWS, LENGTHS, inputs=NAMES).standard_errors(ROWS, LENGTHS)
    expected = clone(fine).fit(X, LENGTHS, **given).standard_errors(X, LENGTHS, **given)
    np.testing.assert_allclose(errors["coef_"], expected["coef_"], rtol=1e-3)
    ahead = by_names.predict_next(ROWS[:60], 2, next_inputs=ROWS[60:62])
    np.testing.assert_allclose(ahead.state[1], ahead.state[0] @ by_names.transition_at(ROWS[NAMES].iloc[61]))
    assert by_names.sample(inputs=ROWS[:5], random_state=0)[0].shape == (5, 1)


def test_a_fit_without_names_forgets_them(by_names):
    model = clone(MODEL).fit(ROWS, LENGTHS, inputs=NAMES)
    model.fit(ROWS[["y"]], LENGTHS)
    assert not hasattr(model, "input_names_in_")
    assert model.predict(ROWS[["y"]], LENGTHS).shape == (600,)


def test_a_model_with_names_can_be_stored(by_names, tmp_path):
    latently.save(by_names, tmp_path / "model")
    again = latently.load(tmp_path / "model")
    assert again.score(ROWS, LENGTHS) == by_names.score(ROWS, LENGTHS)
    assert again.n_parameters_ == by_names.n_parameters_


def test_names_that_do_not_fit(by_names, by_numbers):
    with pytest.raises(ValueError, match=r"\['wind'\] are not among the columns"):
        clone(MODEL).fit(ROWS, LENGTHS, inputs=["wind"])
    with pytest.raises(ValueError, match="name a column twice"):
        clone(MODEL).fit(ROWS, LENGTHS, inputs=["load", "load"])
    with pytest.raises(ValueError, match="nothing is left to be emitted"):
        clone(MODEL).fit(ROWS[["load"]], LENGTHS, inputs="load")
    with pytest.raises(ValueError, match="give X as a data frame, not ndarray"):
        clone(MODEL).fit(ROWS.to_numpy(), LENGTHS, inputs=NAMES)
    with pytest.raises(ValueError, match=r"with the columns \['speed', 'load'\], and no inputs"):
        by_names.score(ROWS, LENGTHS, inputs=ROWS[NAMES].to_numpy())
    with pytest.raises(ValueError, match="as numbers, not by name"):
        by_numbers.score(ROWS, LENGTHS, inputs=NAMES)
    with pytest.raises(ValueError, match=r"\['load'\] are not among the columns"):
        by_names.score(ROWS[["y", "speed"]], LENGTHS)
    with pytest.raises(ValueError, match="feature names"):
        by_names.score(ROWS.assign(more=1.0), LENGTHS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_unknown_inputs_are_named_by_row_and_column(value, tmp_path, by_numbers):
    bad = ROWS.astype(float).copy()
    bad.loc[7, "load"] = value
    with pytest.raises(ValueError, match=f"row 7 of column 'load' is {value}"):
        clone(MODEL).fit(FRAME[["y"]], LENGTHS, inputs=bad[NAMES])
    with pytest.raises(ValueError, match=f"row 7 of column 1 is {value}"):
        clone(MODEL).fit(FRAME[["y"]], LENGTHS, inputs=bad[NAMES].to_numpy())
    with pytest.raises(ValueError, match=f"row 7 of column 1 is {value}"):
        by_numbers.score(FRAME[["y"]].to_numpy(), LENGTHS, inputs=bad[NAMES].to_numpy())
    with pytest.raises(ValueError, match=f"row 7 of column 'load' is {value}"):
        clone(MODEL).fit(bad, LENGTHS, inputs=NAMES)


def test_an_unknown_input_of_a_file_is_named(tmp_path):
    bad = FRAME.copy()
    bad.loc[577, "load"] = np.nan
    bad.to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match="row 577 of column 'load' is nan"):
        clone(MODEL).fit(tmp_path / "bad.parquet", sequences_by="who", inputs=NAMES)


# files and Dask collections


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    for i, part in enumerate(np.split(np.arange(600), [130, 400])):
        FRAME.iloc[part].to_parquet(path / f"part-{i}.parquet")
    return path


def test_a_fit_to_files(folder, by_names, tmp_path):
    model = clone(MODEL).fit(folder, sequences_by="who", inputs=NAMES)
    assert_same_model(model, by_names)
    small = open_source(folder, sequences_by="who", chunk_rows=128)
    assert_same_model(clone(MODEL).fit(small, inputs=NAMES), by_names)
    chosen = clone(MODEL).fit(folder, columns=["y", "speed"], sequences_by="who", inputs="speed")
    assert_same_model(chosen, clone(MODEL).fit(ROWS[["y", "speed"]], LENGTHS, inputs="speed"))
    model.predict_proba(folder, sequences_by="who", to=tmp_path / "out.parquet")
    written = pd.read_parquet(tmp_path / "out.parquet").to_numpy()
    np.testing.assert_allclose(written, model.predict_proba(ROWS, LENGTHS), atol=1e-12)
    for verb in ("score", "bic", "aic", "icl"):
        assert getattr(model, verb)(small) == pytest.approx(getattr(model, verb)(ROWS, LENGTHS))


def test_weights_of_a_file(tmp_path):
    heavy = FRAME.assign(weight=np.where(FRAME["who"] < 5, 2.0, 1.0))
    heavy.to_parquet(tmp_path / "heavy.parquet")
    there = clone(MODEL).fit(tmp_path / "heavy.parquet", sequences_by="who", sample_weight="weight", inputs=NAMES)
    here = clone(MODEL).fit(ROWS, LENGTHS, inputs=NAMES, sample_weight=[2.0] * 5 + [1.0] * 5)
    assert_same_model(there, here)


def test_a_fit_to_files_goes_on_where_it_was_stopped(folder, by_names, tmp_path, monkeypatch):
    options = {"sequences_by": "who", "inputs": NAMES, "checkpoint": tmp_path / "fit", "every": 2}
    kind, calls = type(by_names._emission(None)), []
    update = kind.update

    def stopped(emission, theta, stats):
        calls.append(stats)
        if len(calls) == 5:
            raise ZeroDivisionError
        return update(emission, theta, stats)

    monkeypatch.setattr(kind, "update", stopped)
    with pytest.raises(ZeroDivisionError):
        clone(MODEL).fit(folder, **options)
    assert_same_model(clone(MODEL).fit(folder, **options), by_names)
    assert len(calls) < 5 + MODEL.n_iter


def test_what_does_not_go_with_files(folder):
    with pytest.raises(ValueError, match="are columns of it, by name"):
        clone(MODEL).fit(folder, sequences_by="who", inputs=FRAME[NAMES].to_numpy())
    with pytest.raises(ValueError, match=r"\['speed'\] are not among the columns that are read, \['y'\]"):
        clone(MODEL).fit(folder, columns=["y"], sequences_by="who", inputs="speed")
    with pytest.raises(ValueError, match="name the column with the identifier"):
        clone(MODEL).fit(folder, inputs=NAMES)
    for learner, more in ((clone(MODEL), {"inputs": NAMES}), (GaussianHMM(2), {})):
        with pytest.raises(ValueError, match="labels need rows in memory"):
            learner.fit(folder, sequences_by="who", labels=np.zeros(600, int), **more)


def test_a_fit_to_a_dask_collection(by_names):
    dd, delayed = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask").delayed
    parts = [delayed(FRAME.iloc[:240]), delayed(FRAME.iloc[240:])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = dd.from_delayed(parts, meta=FRAME[:0])
        model = clone(MODEL).fit(frame, sequences_by="who", inputs=NAMES)
    assert_same_model(model, by_names)


# inputs that are not independent


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9, -3.0])
def test_a_constant_input_changes_nothing(constant):
    own = FRAME[["speed"]].to_numpy()
    plain = clone(MODEL).fit(FRAME[["y"]], LENGTHS, inputs=own)
    model = clone(MODEL).fit(FRAME[["y"]], LENGTHS, inputs=np.column_stack([np.full(600, constant), own]))
    np.testing.assert_allclose(model.history_, plain.history_, rtol=1e-9)
    np.testing.assert_array_equal(model.coef_[:, :, 1], 0.0)
    np.testing.assert_allclose(model.coef_[:, :, [0, 2]], plain.coef_, rtol=1e-6, atol=1e-9)
    assert model.n_parameters_ == plain.n_parameters_


def test_one_constant_input_alone_is_the_plain_model():
    plain = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=2000, tol=1e-9).fit(FRAME[["y"]], LENGTHS)
    model = clone(plain).fit(FRAME[["y"]], LENGTHS, inputs=np.full(600, 0.1))
    assert model.history_[-1] == pytest.approx(plain.history_[-1], abs=1e-5)
    np.testing.assert_allclose(model.transmat_, plain.transmat_, atol=1e-3)
    assert model.n_parameters_ == plain.n_parameters_


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_inputs_that_repeat_each_other(scale):
    own = FRAME[["speed", "load"]].to_numpy()
    twice = np.column_stack([own, scale * own[:, 0] + 3.0, own @ [1.0, -2.0]])
    plain = HiddenMarkovModel(2, Gaussian(), random_state=0, n_iter=200, tol=1e-7)
    plain.fit(FRAME[["y"]], LENGTHS, inputs=own)
    model = clone(plain).fit(FRAME[["y"]], LENGTHS, inputs=twice)
    assert model.converged_
    assert np.isfinite(model.coef_).all()
    assert model.history_[-1] == pytest.approx(plain.history_[-1], abs=1e-4)
    assert (np.diff(model.history_) >= -1e-8).all()
    np.testing.assert_allclose(
        model.predict_proba(FRAME[["y"]], LENGTHS, inputs=twice),
        plain.predict_proba(FRAME[["y"]], LENGTHS, inputs=own),
        atol=0.001,
    )
    assert model.n_parameters_ == plain.n_parameters_
    assert np.isfinite(model.standard_errors(FRAME[["y"]], LENGTHS, inputs=twice)["coef_"]).all()


def test_spreads_of_parts_add_up():
    U = np.column_stack([np.ones(50), 1e6 + np.random.default_rng(0).standard_normal((50, 2))])
    whole, parts = Units.of(U), Units.from_spread(Spread.of(U[:7]) + Spread.of(U[7:20]) + Spread.of(U[20:]))
    for name in ("centre", "scale", "reach"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9)
    np.testing.assert_allclose(whole.scale, [1.0, *U[:, 1:].std(axis=0)])
    np.testing.assert_allclose(whole.reach, np.abs(whole.of_inputs(U)).max(axis=0))
    assert whole.rank == parts.rank == 3
