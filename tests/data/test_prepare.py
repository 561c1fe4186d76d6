"""TablePrep: what it does to a table, that it says so, and that it can undo it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from latently.data import TablePrep, infer_schema
from latently.prepare.columns import fit_curve, middle, mildest, skewness

RNG = np.random.default_rng(0)
INCOME = RNG.lognormal(size=500)


def table(n=200):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "income": rng.lognormal(3, 1, size=n),
            "cm": rng.normal(170, 10, size=n),
            "size": rng.choice(["S", "M", "L"], size=n),
            "city": rng.choice(["Oslo", "Rome"], size=n),
        }
    )


def test_skewness_is_scipys():
    assert skewness(INCOME) == pytest.approx(stats.skew(INCOME))
    assert skewness(np.append(INCOME, np.nan)) == pytest.approx(stats.skew(INCOME))
    assert skewness(np.full(10, 0.1)) == 0.0


def test_the_robust_spread_is_scipys():
    centre, spread = middle(INCOME)
    assert centre == np.median(INCOME)
    assert spread == pytest.approx(stats.median_abs_deviation(INCOME, scale="normal"))


def test_auto_takes_the_mildest_curve_that_will_do():
    heavy = stats.cauchy(0).ppf(np.linspace(0.001, 0.97, 400))
    spikes = np.append(np.zeros(99), 1.0)
    columns = pd.DataFrame({"n": np.linspace(0, 1, 400), "log": np.exp(np.linspace(0, 9, 400)), "atan": -heavy})
    kinds = [record["skew"] for record in TablePrep().fit(columns).account()]
    assert kinds == ["none", "log", "atan"]
    assert TablePrep().fit(spikes[:, None]).account()[0]["skew"] == "cdf"
    for record in TablePrep().fit(columns).account():
        assert abs(record["skewness_after"]) <= 1


def test_the_cdf_is_the_empirical_one():
    x = np.array([3.0, 1.0, 2.0, 2.0])
    # values below plus half of those equal, as in scipy.stats.rankdata's mean ranks
    expected = (stats.rankdata(x) - 0.5) / 4
    np.testing.assert_allclose(fit_curve(x, "cdf").apply(x), expected)
    many = RNG.normal(size=20_000)
    np.testing.assert_allclose(fit_curve(many, "cdf").apply(many), (stats.rankdata(many) - 0.5) / 20_000, atol=1e-3)


@pytest.mark.parametrize(("scale", "peer"), [("standard", StandardScaler()), ("range", MinMaxScaler()), ("none", None)])
def test_scales_are_scikit_learns(scale, peer):
    X = load_diabetes().data[:, :4]
    ours = TablePrep(skew="none", scale=scale).fit_transform(X)
    np.testing.assert_allclose(ours, X if peer is None else peer.fit_transform(X), atol=1e-12)


def test_the_robust_scale_has_the_median_of_scikit_learns():
    X = load_diabetes().data[:, :1]
    ours = TablePrep(skew="none", scale="robust").fit(X)
    assert ours.account()[0]["centre"] == pytest.approx(RobustScaler().fit(X).center_[0])
    assert ours.account()[0]["unit"] == pytest.approx(stats.median_abs_deviation(X[:, 0], scale="normal"))


@pytest.mark.parametrize("skew", ["auto", "none", "log", "atan", "cdf"])
@pytest.mark.parametrize("scale", ["standard", "robust", "range", "none"])
@settings(max_examples=15, deadline=None)
@given(
    x=arrays(float, st.integers(3, 30), elements=st.floats(-1e6, 1e6, width=32)),
)
def test_what_is_done_is_undone(skew, scale, x):
    prep = TablePrep(skew=skew, scale=scale).fit(x[:, None])
    out = prep.transform(x[:, None])
    assert np.isfinite(out).all()
    size = np.abs(x).max()
    # tan near a right angle loses as many digits as the value is far out in robust units
    far = (np.abs(x - middle(x)[0]) / middle(x)[1]).max() ** 2 if prep.account()[0]["skew"] == "atan" else 1.0
    np.testing.assert_allclose(prep.inverse_transform(out)[:, 0], x, atol=1e-9 * (1 + size) * (1 + far))


def test_curves_never_turn_the_order_round():
    for kind in ("log", "atan", "cdf"):
        out = fit_curve(INCOME, kind).apply(np.sort(INCOME))
        assert (np.diff(out) >= 0).all()


@pytest.mark.parametrize("how", ["keep", "clip", "missing"])
def test_outliers_column_by_column(how):
    x = np.append(RNG.normal(size=100), [50.0, -70.0])[:, None]
    prep = TablePrep(skew="none", scale="none", outliers=how).fit(x)
    out = prep.transform(x)
    record = prep.account()[0]
    assert record["n_outliers"] == 2
    low, high = record["limits"]
    centre, spread = np.median(x), stats.median_abs_deviation(x[:, 0], scale="normal")
    np.testing.assert_allclose([low, high], [centre - 5 * spread, centre + 5 * spread])
    wanted = {"keep": [50, -70], "clip": [high, low], "missing": [np.nan, np.nan]}[how]
    np.testing.assert_allclose(out[-2:, 0], wanted)
    np.testing.assert_array_equal(out[:-2], x[:-2])


@pytest.mark.parametrize("by", ["distance", "density"])
def test_outliers_are_dropped_as_rows(by):
    rng = np.random.default_rng(3)
    good = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], size=300)
    X = np.vstack([good, [[2.5, -2.5], [-2.4, 2.6], [30, 30]]])  # two of them are odd only in their direction
    prep = TablePrep(skew="none", outliers="drop", outliers_by=by, threshold=4.0).fit(X)
    kept = prep.inliers(X)
    assert not kept[-3:].any()
    assert kept[:-3].mean() > 0.98
    assert len(prep.transform(X)) == kept.sum()
    absent = np.array([[np.nan, 0.0], [np.nan, np.nan]])
    assert prep.inliers(absent).all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_in_frames_out(kind):
    plain = table()
    make = {"pandas": lambda t: t, "polars": pl.from_pandas, "arrow": lambda t: pl.from_pandas(t).to_arrow()}[kind]
    prep = TablePrep(ordinal={"size": ["S", "M", "L"]}).fit(make(plain))
    out = prep.transform(make(plain))
    assert type(out) is type(make(plain))
    back = prep.inverse_transform(out)
    names = ["income", "cm", "size", "city"]
    assert list(prep.get_feature_names_out()) == names
    for name in names:
        got = back[name].to_pylist() if kind == "arrow" else back[name].to_list()
        if name in ("income", "cm"):
            np.testing.assert_allclose(got, plain[name])
        else:
            assert got == plain[name].to_list()
    codes = out["size"].to_pylist() if kind == "arrow" else out["size"].to_list()
    assert codes == [["S", "M", "L"].index(v) for v in plain["size"]]


def test_missing_values_are_kept_or_filled():
    absent = table()
    absent.loc[0, ["income", "size", "city"]] = None
    keep = TablePrep(ordinal={"size": ["S", "M", "L"]}).fit_transform(absent)
    assert keep.loc[0, ["income", "size", "city"]].isna().all()
    fill = TablePrep(ordinal={"size": ["S", "M", "L"]}, missing="fill").fit(absent)
    out = fill.transform(absent)
    assert out.loc[0, "city"] == "missing"
    assert out.loc[0, "income"] == pytest.approx(0.0)  # the mean, on the new scale
    assert fill.account()[0]["n_missing"] == 1
    assert fill.account()[0]["fill"] == pytest.approx(np.exp(np.log(absent["income"]).mean()))
    assert fill.inverse_transform(out).loc[0, "city"] is None or pd.isna(fill.inverse_transform(out).loc[0, "city"])
    some = TablePrep(missing={"city": "category"}, missing_category="?").fit_transform(absent)
    assert some.loc[0, "city"] == "?"
    assert np.isnan(some.loc[0, "income"])


def test_categories_that_are_new_pass_through():
    prep = TablePrep().fit(table())
    new = table().assign(city="Lima")
    assert (prep.transform(new)["city"] == "Lima").all()


def test_columns_are_found_by_name():
    prep = TablePrep().fit(table())
    turned = table()[["city", "cm", "size", "income"]]
    pd.testing.assert_frame_equal(prep.transform(turned), prep.transform(table()))
    with pytest.raises(ValueError, match="'cm' is not in the table"):
        prep.transform(table().drop(columns="cm"))


def test_constant_empty_and_single_columns():
    X = np.column_stack([np.full(5, 0.1), np.full(5, np.nan), np.arange(5.0)])
    for skew in ("auto", "log", "atan", "cdf"):
        prep = TablePrep(skew=skew, missing="mean", outliers="clip").fit(X)
        assert np.isfinite(prep.transform(X)).all()
    single = TablePrep().fit_transform([[3.0, 4.0]])
    np.testing.assert_array_equal(single, 0.0)


def test_a_log_lifts_what_lies_below_its_range():
    prep = TablePrep(skew="log", scale="none").fit([[1.0], [10.0], [100.0]])
    np.testing.assert_allclose(prep.transform([[-5.0], [10.0]])[:, 0], [0.0, np.log(10)])


def test_in_a_pipeline_with_a_model_that_takes_holes():
    from latently.predict import NaiveBayes

    X = table()
    X.loc[::5, "income"] = np.nan
    y = (X["city"] == "Oslo").to_numpy()
    model = make_pipeline(TablePrep(ordinal={"size": ["S", "M", "L"]}), NaiveBayes()).fit(X, y)
    assert model.score(X, y) == 1.0


def test_choices_are_checked():
    with pytest.raises(ValueError, match="scale must be one of"):
        TablePrep(scale="giant").fit(table())
    with pytest.raises(ValueError, match="skew must be one of"):
        TablePrep(skew={"cm": "sqrt"}).fit(table())
    with pytest.raises(ValueError, match="'height' is not in the table"):
        TablePrep(skew={"height": "log"}).fit(table())
    with pytest.raises(ValueError, match="threshold"):
        TablePrep(threshold=0).fit(table())
    with pytest.raises(ValueError, match="column 'cm' contains inf"):
        TablePrep().fit(table().assign(cm=np.inf))


def test_a_schema_can_be_given():
    schema = infer_schema(table(), categorical=["cm"])
    assert TablePrep(schema=schema).fit(table()).account()[1]["kind"] == "categorical"


def test_values_of_extreme_size_are_named():
    with pytest.raises(ValueError, match="column 'cm' has values of extreme size"):
        TablePrep().fit(table().assign(cm=1e200))


def test_arrays_of_mixed_types():
    X = table().astype(object).to_numpy()
    prep = TablePrep(ordinal={"x2": ["S", "M", "L"]}).fit(X)
    out = prep.transform(X)
    assert out.dtype == object
    assert set(out[:, 2]) == {0.0, 1.0, 2.0}
    back = prep.inverse_transform(out)
    assert (back[:, 2:] == X[:, 2:]).all()
    np.testing.assert_allclose(back[:, :2].astype(float), X[:, :2].astype(float))


def test_names_of_what_comes_out():
    prep = TablePrep().fit(np.eye(3))
    assert list(prep.get_feature_names_out()) == ["x0", "x1", "x2"]
    assert list(prep.get_feature_names_out(["a", "b", "c"])) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="should have length"):
        prep.get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        TablePrep().fit(table()).get_feature_names_out(["a", "b", "c", "d"])
    with pytest.raises(ValueError, match="'cm' is not in the table"):
        TablePrep().fit(table()).inverse_transform(table().drop(columns="cm"))
    with pytest.raises(ValueError, match="is expecting 3 features"):
        prep.transform(np.eye(2))


def test_a_left_tail_is_not_given_a_log():
    # far left of the middle the logarithm of the distance from the lowest value would stretch the tail further
    values = np.random.default_rng(0).lognormal(sigma=1.0, size=2000)
    right, left = mildest(values), mildest(-values)
    assert right.kind == "log"
    assert left.kind in ("atan", "cdf")
    assert skewness(-values) == pytest.approx(-stats.skew(values), rel=1e-10)
    mild = np.random.default_rng(1).lognormal(sigma=0.5, size=2000)
    assert stats.skew(mild) > 1
    assert mildest(mild).kind == "log"
    assert abs(stats.skew(mildest(-mild).apply(-mild))) <= 1
