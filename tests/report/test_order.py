"""Rows that are not independent: copies, and rows that resemble the rows before them."""

import numpy as np
import pytest
from benchmarks.explore_truth import follow, followed, frame, in_time
from scipy import signal, stats

from latently.report import explore
from latently.report.reading.table import read_columns
from latently.report.sections.dependencies import dependencies
from latently.report.study.columns import judge
from latently.report.study.pairs.association import compare
from latently.report.study.prepare import prepare
from latently.report.study.rows.autoregression import criteria, rest
from latently.report.study.rows.order import autocorrelation, inflation, inflation_of_mean, memory
from latently.report.study.rows.repeats import repeated
from latently.report.study.rows.sorting import stretches_of
from latently.report.study.study import Study


def studied(table, time=None):
    columns = [judge(raw) for raw in read_columns(table)]
    return Study(prepare(columns, len(columns[0].raw), 20_000, 0), time=time)


def ar(rng, phi, shape):
    return signal.lfilter([1], [1, -phi], rng.normal(size=(shape[0] + 300, *shape[1:])), axis=0)[300:]


# copies


@pytest.mark.parametrize("again", [lambda X: np.tile(X, (2, 1)), lambda X: np.repeat(X, 2, axis=0)])
def test_copies_are_counted_once(again):
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(120, 5))
        once, found = explore(X).to_dict(), explore(again(X)).to_dict()
        assert found["source"]["copies"] == found["source"]["repeats"] == 120
        assert "120 rows repeat another row exactly (50 %)" in found["insights"][0]["text"]
        assert found["dependencies"]["pairs"] == once["dependencies"]["pairs"]
        assert found["dependencies"]["finds"] == once["dependencies"]["finds"]
        assert found["clusters"]["n"] == 1


def test_p_values_of_a_table_and_of_the_table_twice_are_the_same():
    X = np.random.default_rng(0).normal(size=(150, 2))
    one, two = (studied(table).aspects for table in (X, np.repeat(X, 2, axis=0)))
    assert compare(*two).p == compare(*one).p


def test_an_identifier_does_not_hide_copies():
    X = np.tile(np.random.default_rng(0).normal(size=(60, 3)), (2, 1))
    assert explore(frame(X) | {"id": np.arange(120)}).to_dict()["source"]["copies"] == 60


def test_repeats_that_chance_explains_are_no_copies():
    rng = np.random.default_rng(0)
    dice = list(rng.integers(1, 7, size=(3, 400)).astype(float))
    count, marks = repeated(dice)
    assert count == 400 - len({tuple(row) for row in np.transpose(dice)})
    assert marks is None
    rounded = list(rng.normal(size=(3, 400)).round(1))
    assert repeated(rounded)[1] is None


def test_missing_values_repeat_and_zeros_have_no_sign():
    x, y = np.array([np.nan, 0.0, 1.0, np.nan, -0.0, 2.0]), np.array([1.0, 2.0, 3.0, 1.0, 2.0, 4.0])
    assert repeated([x, y])[0] == 2


# memory


def test_autocorrelations_are_those_of_a_plain_sum():
    x = np.random.default_rng(0).normal(size=50).cumsum()
    x[[3, 20, 21]] = np.nan
    z = x - np.nanmean(x)
    expected = [np.nanmean(z[k:] * z[:-k]) / np.nanmean(z**2) for k in (1, 2, 7)]
    assert autocorrelation(x, 7)[[0, 1, 6]] == pytest.approx(expected)


def test_independent_rows_have_no_memory():
    rng = np.random.default_rng(0)
    assert np.mean([memory(rng.normal(size=200)) is not None for _ in range(300)]) <= 0.01
    assert inflation(None, np.ones(3)) == inflation_of_mean(rng.normal(size=200)) == 1.0


@pytest.mark.parametrize("phi", [0.5, 0.8])
def test_rows_are_worth_as_many_as_bartlett_says(phi):
    rng = np.random.default_rng(1)
    shares = [inflation(memory(x), memory(y)) for x, y in ar(rng, phi, (2000, 20, 2)).transpose(1, 2, 0)]
    assert np.mean(shares) == pytest.approx((1 + phi**2) / (1 - phi**2), rel=0.1)
    means = [inflation_of_mean(x) for x in ar(rng, phi, (2000, 20)).T]
    assert np.mean(means) == pytest.approx((1 + phi) / (1 - phi), rel=0.15)


@pytest.mark.parametrize("phi", [0.7, 0.95])
def test_p_values_of_series_that_do_not_depend_are_even(phi):
    rng = np.random.default_rng(2)
    p = [compare(*studied(ar(rng, phi, (200, 2))).aspects).p for _ in range(200)]
    assert np.mean(np.array(p) < 0.05) <= 0.09
    assert np.mean(np.array(p) < 0.005) <= 0.02


def test_p_values_of_classes_that_last_are_even():
    rng, p = np.random.default_rng(5), []
    for _ in range(100):
        stays = rng.random((2, 200)) < 0.8
        drawn = rng.integers(0, 3, size=(2, 200))
        places = np.maximum.accumulate(np.where(stays, 0, np.arange(200)), axis=1)
        words = np.array(["a", "b", "c"])[np.take_along_axis(drawn, places, axis=1)]
        p.append(compare(*studied({"x": words[0].tolist(), "y": words[1].tolist()}).aspects).p)
    assert np.mean(np.array(p) < 0.05) <= 0.12  # counted whole, the rows give three in four
    assert np.mean(np.array(p) < 0.005) <= 0.03


def test_series_that_depend_are_found():
    rng, hits = np.random.default_rng(3), []
    for _ in range(20):
        noise = rng.normal(size=(500, 3))
        noise[:, 1] = 0.5 * noise[:, 0] + np.sqrt(0.75) * noise[:, 1]
        pairs = dependencies(studied(followed(noise, 0.8)))["pairs"]
        hits.append([(pair["a"], pair["b"]) for pair in pairs] == [("x0", "x1")])
    assert sum(hits) >= 19


def test_what_goes_together_beside_a_week_that_both_have_is_found():
    """Both repeat themselves every seven rows, so that all rows together are worth few independent ones."""
    rng = np.random.default_rng(0)
    week = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -4.0, -5.0], 52)
    holiday = rng.random(len(week)) < 0.06
    work = (week == 0) & ~holiday
    demand = week - 4 * (holiday & (week == 0)) + 0.5 * rng.normal(size=len(week))
    table = {"work": work.astype(int), "demand": demand, "day": np.arange(len(week))}
    found = explore(table, time="day").to_dict()["insights"]
    assert any(each["finding"] == "dependency" and set(each["columns"][:2]) == {"work", "demand"} for each in found)


@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_p_values_of_weeks_that_do_not_depend_are_even(phi):
    """Two series with a week of their own each, and nothing else in common."""
    week = np.tile([0.0, 1.0, 2.0, 1.0, 0.0, -2.0, -2.0], 30)
    low = 0
    for seed in range(60):
        X = ar(np.random.default_rng(seed), phi, (len(week), 2)) + week[:, None]
        low += compare(*studied(frame(X) | {"t": np.arange(len(week)) * 1.0}, "t").aspects[:2]).p < 0.05
    assert low <= 8  # 5 % are three; more than eight have a probability below 1 %


def test_time_orders_the_rows_before_they_are_judged():
    rng = np.random.default_rng(4)
    X = ar(rng, 0.9, (300, 2))
    order = rng.permutation(300)
    table = frame(X[order]) | {"t": order + 0.3 * rng.random(300)}
    plain, told = studied(table), studied(table, time="t")
    assert plain.aspects[0].memory is None
    assert told.aspects[0].memory[0] == pytest.approx(0.9, abs=0.1)


def test_a_table_that_is_sorted_by_a_column_is_no_series():
    from sklearn.datasets import load_iris

    iris = load_iris(as_frame=True)
    table = iris.data.assign(kind=iris.target_names[iris.target])
    found = explore(table).to_dict()["dependencies"]
    shuffled = explore(table.sample(frac=1.0, random_state=0)).to_dict()["dependencies"]
    assert found["count"] == shuffled["count"]


def test_even_steps_are_time_and_others_are_what_a_table_is_sorted_by():
    rng = np.random.default_rng(0)
    assert stretches_of(np.arange(100.0) + 0.2 * rng.random(100), text=False) is None
    assert stretches_of(np.sort(rng.exponential(size=100)), text=False) is not None
    blocks = np.repeat([2.0, 0.0, 1.0], [30, 30, 40])
    assert stretches_of(blocks, text=True).tolist() == [2] * 30 + [0] * 30 + [1] * 40
    assert stretches_of(np.append(blocks, [2.0, 0.0]), text=True).tolist()[-3:] == [1, 2, 0]
    assert stretches_of(np.append(blocks, [2.0] * 8), text=True) is None
    assert stretches_of(np.sort(blocks), text=False).tolist() == [0] * 30 + [1] * 40 + [2] * 30
    assert stretches_of(blocks, text=False) is None
    assert stretches_of(np.tile([0.0, 1.0], 50), text=True) is None


def test_clusters_of_a_table_that_is_sorted_by_its_label_are_found():
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True).frame
    found = explore(wine).to_dict()["clusters"]
    shuffled = explore(wine.sample(frac=1.0, random_state=0)).to_dict()["clusters"]
    assert found["n"] > 1
    assert shuffled["n"] > 1


def test_rows_that_resemble_the_rows_before_are_told():
    found = explore(follow(0.7)(np.random.default_rng(0))[0]).to_dict()
    nothing, order = found["insights"]
    assert (nothing["kind"], order["finding"]) == ("nothing", "order")
    assert "resembles the row before" in order["text"]
    assert len(found["dependencies"]["order"]) == 3
    assert found["clusters"]["n"] == 1
    assert found["dependencies"]["pairs"] == []


def test_a_gap_in_one_wandering_series_is_no_cluster():
    found = [explore(ar(np.random.default_rng(seed), 0.9, (400, 2))).to_dict()["clusters"]["n"] for seed in range(8)]
    assert found == [1] * 8


# time


@pytest.mark.parametrize("phi", [0.7, 0.95])
def test_a_series_without_states_has_none(phi):
    for seed in range(2):
        table, how = in_time(follow(phi))(np.random.default_rng(seed))
        found = explore(table, **how).to_dict()
        assert found["time"]["states"] == 1
        assert found["insights"][0]["kind"] == "nothing"


def test_the_probability_of_states_is_that_of_their_number():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 2))
    x[80:160] += 4
    found = explore(frame(x) | {"t": np.arange(240.0)}, time="t").to_dict()
    scores = found["time"]["criterion"]
    every = np.concatenate([scores[name] for name in ("states", "without_memory", "autoregressive")])
    weights = np.exp(-0.5 * (every - every.min()))
    first = next(i for i in found["insights"] if i["section"] == "time")
    assert first["probability"] == pytest.approx(weights[1] / weights.sum())
    assert "go through 2 states" in first["text"]


def test_an_autoregression_is_that_of_least_squares():
    x = ar(np.random.default_rng(0), 0.6, (400, 1))
    z = x[:, 0] - x.mean()
    phi = (z[1:] @ z[:-1]) / (z[:-1] @ z[:-1])
    left = rest(x, 1, False)[:, 0]
    assert left[1:] == pytest.approx(z[1:] - phi * z[:-1])
    spread = left.std()
    bic = -2 * stats.norm(left.mean(), spread).logpdf(left).sum() + 3 * np.log(400)
    assert criteria(x, [1], 0)[0] == pytest.approx(bic, rel=1e-6)


def test_missing_values_of_a_series_cost_it_little():
    X = ar(np.random.default_rng(1), 0.8, (500, 2))
    gone = np.random.default_rng(2).random(X.shape) < 0.05
    left = rest(np.where(gone, np.nan, X), 1, True)
    assert np.isnan(left).sum() == gone.sum()
    assert np.nanvar(left) == pytest.approx(1.0, abs=0.15)


def test_a_target_in_time_is_held_back_at_the_end():
    alarms = []
    for seed in range(4):
        table, how = in_time(follow(0.95))(np.random.default_rng(seed))
        alarms.append(explore(table, target="c0", **how).to_dict()["target"]["tells"])
    assert sum(alarms) <= 1
