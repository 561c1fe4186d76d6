"""Naive Bayes on tables of mixed types."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from latently.data import infer_schema
from latently.distributions import Exponential, Gamma
from latently.predict import CategoricalNB, GaussianNB, NaiveBayes
from latently.predict.bayes.estimates import m_estimate


def house_votes():
    text = (Path(__file__).parents[1] / "reference" / "house_votes.txt").read_text(encoding="ascii")
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    votes = [[None if vote == "?" else vote for vote in word[1:]] for word in words]
    names = [f"V{j}" for j in range(1, 17)]
    return pd.DataFrame(votes, columns=names), [{"d": "democrat", "r": "republican"}[w[0]] for w in words]


def mixed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    table = pd.DataFrame(
        {
            "cm": rng.normal(170 + 8 * y, 6),
            "visits": rng.poisson(1 + 2 * y),
            "city": np.where(rng.random(n) < 0.3 + 0.4 * y, "Oslo", "Rome"),
            "size": pd.Categorical(
                np.array(["S", "M", "L"])[np.minimum(rng.poisson(0.5 + y), 2)], ["S", "M", "L"], ordered=True
            ),
            "smokes": rng.random(n) < 0.2 + 0.5 * y,
            "wait": rng.exponential(1 + 3 * y),
        }
    )
    return table, np.where(y == 1, "ill", "well")


FAMILIES = {"visits": "counts", "wait": Exponential()}


def test_house_votes_as_e1071_has_them():
    # e1071's documented example: naiveBayes(Class ~ ., HouseVotes84); table(predict(model, data), Class)
    X, y = house_votes()
    predicted = NaiveBayes(m=0).fit(X, y).predict(X)
    confusion = pd.crosstab(predicted, np.array(y)).to_numpy()
    assert len(y) == 435
    np.testing.assert_array_equal(confusion, [[238, 13], [29, 155]])


def test_the_m_estimate_of_mitchell():
    # (n_i + m p) / (n + m): Mitchell, Machine Learning, equation 6.22
    table = np.array([[3.0, 0.0], [5.0, 4.0]])
    np.testing.assert_allclose(m_estimate(table, np.array([0.25, 0.75]), 4.0), [[4 / 12, 1 / 8], [8 / 12, 7 / 8]])
    np.testing.assert_allclose(m_estimate(table, np.array([0.5, 0.5]), "laplace"), [[0.4, 1 / 6], [0.6, 5 / 6]])
    np.testing.assert_allclose(m_estimate(table * 0, np.array([0.25, 0.75]), 0.0), [[0.25] * 2, [0.75] * 2])
    with pytest.raises(ValueError, match="m must be"):
        m_estimate(table, np.array([0.5, 0.5]), -1.0)


def test_the_prior_of_an_ordinal_column_leans_on_its_neighbours():
    table = np.array([[0.0], [8.0], [0.0], [0.0]])
    even = np.full(4, 0.25)
    plain, ordered = m_estimate(table, even, 2.0), m_estimate(table, even, 2.0, ordered=True)
    np.testing.assert_allclose([plain.sum(), ordered.sum()], 1.0)
    assert plain[2, 0] == plain[3, 0]
    assert ordered[2, 0] > ordered[3, 0] > 0


def test_gaussian_columns_alone_are_gaussian_naive_bayes():
    X, y = load_iris(return_X_y=True)
    np.testing.assert_allclose(NaiveBayes().fit(X, y).predict_proba(X), GaussianNB().fit(X, y).predict_proba(X))


def test_categories_alone_with_laplace_are_categorical_naive_bayes():
    rng = np.random.default_rng(0)
    X, y = rng.integers(4, size=(200, 3)), rng.integers(3, size=200)
    ours = NaiveBayes("categorical", m="laplace").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), CategoricalNB().fit(X, y).predict_proba(X), rtol=1e-10)


def test_the_joint_density_is_the_product_of_its_columns():
    X, y = mixed()
    model = NaiveBayes(FAMILIES, m="laplace").fit(X, y)
    assert model.kinds_ | {"wait": 0} == {
        "cm": "gaussian",
        "visits": "counts",
        "city": "categorical",
        "size": "ordinal",
        "smokes": "categorical",
        "wait": 0,
    }
    row, here = X.iloc[[5]], X[np.array(y) == "ill"]
    n, overall = len(here), X["visits"].mean()
    rate = (here["visits"].sum() + overall) / (n + 1)
    smokes = ((here["smokes"] == row["smokes"].iloc[0]).sum() + 1) / (n + 2)
    city = ((here["city"] == row["city"].iloc[0]).sum() + 1) / (n + 2)
    rest = model.predict_joint_log_proba(row.assign(size=None))[0, 0]
    expected = (
        np.log(n / len(X))
        + stats.norm(here["cm"].mean(), here["cm"].std(ddof=0)).logpdf(row["cm"].iloc[0])
        + stats.poisson(rate).logpmf(row["visits"].iloc[0])
        + stats.expon(scale=here["wait"].mean()).logpdf(row["wait"].iloc[0])
        + np.log(smokes * city)
    )
    assert rest == pytest.approx(expected, rel=1e-7)


def test_missing_entries_are_left_out_of_the_product():
    X, y = mixed()
    absent = X.astype({"visits": float, "smokes": object})
    absent.loc[::4, "cm"] = np.nan
    absent.loc[1::4, "city"] = None
    model = NaiveBayes(FAMILIES).fit(absent, y)
    nothing = absent.iloc[[0]].assign(cm=None, visits=None, city=None, size=None, smokes=None, wait=None)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.class_prior_)
    np.testing.assert_allclose(model.score_samples(nothing), 0.0, atol=1e-12)
    narrow = NaiveBayes().fit(absent[["cm"]], y)
    only = nothing.assign(cm=175.0)
    np.testing.assert_allclose(model.predict_proba(only), narrow.predict_proba(only[["cm"]]), rtol=1e-10)


def test_unseen_categories_get_the_priors_probability():
    X, y = mixed()
    model = NaiveBayes().fit(X[["city"]], y)
    unseen = model.predict_joint_log_proba(pd.DataFrame({"city": ["Lima"]}))
    np.testing.assert_allclose(unseen[0], np.log(model.class_prior_) + np.log(1 / 2))


def test_priors_of_categories_by_hand_and_by_margin():
    X, y = pd.DataFrame({"c": ["a", "a", "b", "b"]}), [0, 0, 1, 1]
    by_hand = NaiveBayes(m=2, p={"c": {"a": 0.75, "b": 0.25}}).fit(X, y)
    np.testing.assert_allclose(np.exp(by_hand.distributions_[0].logs[0]), [[3.5 / 4, 1.5 / 4], [0.5 / 4, 2.5 / 4]])
    margin = NaiveBayes(m=2, p="marginal").fit(X, y)
    np.testing.assert_allclose(np.exp(margin.distributions_[0].logs[0]), [[3 / 4, 1 / 4], [1 / 4, 3 / 4]])
    with pytest.raises(ValueError, match="column 'c'"):
        NaiveBayes(p={"c": [0.5, 0.6]}).fit(X, y)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_are_found_by_name_and_one_gone_is_named(kind):
    X, y = mixed()
    X = X.drop(columns="size")
    table = X if kind == "pandas" else pl.from_pandas(X)
    model = NaiveBayes(FAMILIES).fit(table, y)
    turned = table[list(X.columns[::-1])]
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(table))
    with pytest.raises(ValueError, match="'city' is not in the table"):
        model.predict(table.drop(columns="city") if kind == "pandas" else table.drop("city"))


def test_learning_forgetting_and_merging():
    X, y = mixed()
    classes = ["ill", "well"]
    whole = NaiveBayes(FAMILIES).fit(X, y)
    a = NaiveBayes(FAMILIES).partial_fit(X[:100], y[:100], classes=classes)
    b = NaiveBayes(FAMILIES).partial_fit(X[100:], y[100:], classes=classes)
    rest = b.predict_proba(X)
    np.testing.assert_allclose(a.merge(b).predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(whole.forget(X[:100], y[:100]).predict_proba(X), rest, rtol=1e-7)
    before = whole.predict_proba(X)
    with pytest.raises(ValueError, match="never learnt"):
        whole.forget(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X), before)


def test_new_categories_join_with_more_rows_and_by_merging():
    first, more = pd.DataFrame({"c": ["b", "c", "b"]}), pd.DataFrame({"c": ["a", "b", "a"]})
    y = [0, 1, 1]
    whole = NaiveBayes().fit(pd.concat([first, more]), y + y)
    grown = NaiveBayes().fit(first, y).partial_fit(more, y)
    merged = NaiveBayes().fit(first, y).merge(NaiveBayes().fit(more, y))
    for model in (grown, merged):
        assert model.schema_["c"].categories == ("b", "c", "a")
        np.testing.assert_allclose(model.predict_proba(more), whole.predict_proba(more))
    with pytest.raises(ValueError, match="label"):
        grown.partial_fit(pd.DataFrame({"c": ["z"]}), [5])
    assert "z" not in grown.schema_["c"].categories


def test_weights_are_repeats():
    X, y = mixed(60)
    w = np.random.default_rng(0).integers(0, 4, size=60)
    w[:2] = 1
    rows = np.repeat(np.arange(60), w)
    weighted = NaiveBayes(FAMILIES).fit(X, y, sample_weight=w)
    repeated = NaiveBayes(FAMILIES).fit(X.iloc[rows], np.array(y)[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


def test_samples_look_like_the_table():
    X, y = mixed()
    model = NaiveBayes({**FAMILIES, "cm": Gamma()}).fit(X, y)
    drawn, labels = model.sample(20_000, random_state=1, like=X)
    assert list(drawn.columns) == list(X.columns)
    assert (labels == "ill").mean() == pytest.approx((np.array(y) == "ill").mean(), abs=0.02)
    for name in ("cm", "visits", "wait"):
        assert drawn[name].mean() == pytest.approx(X[name].mean(), rel=0.05)
    assert (drawn["city"] == "Oslo").mean() == pytest.approx((X["city"] == "Oslo").mean(), abs=0.02)


def test_bad_input_is_named():
    X, y = mixed()
    with pytest.raises(ValueError, match="column 'visits' holds -1"):
        NaiveBayes(FAMILIES).fit(X.assign(visits=-1), y)
    with pytest.raises(ValueError, match="'height' is not in the table"):
        NaiveBayes({"height": "gaussian"}).fit(X, y)
    with pytest.raises(ValueError, match="column 'city' must be one of"):
        NaiveBayes({"city": "unknown"}).fit(X, y)
    with pytest.raises(ValueError, match="whose order is not known"):
        NaiveBayes({"city": "ordinal"}).fit(X, y)
    with pytest.raises(ValueError, match="asked to be binary"):
        NaiveBayes({"cm": "binary"}).fit(X, y)
    with pytest.raises(ValueError, match="'wait'"):
        NaiveBayes(FAMILIES).fit(X.assign(wait=-2.0), y)
    schema = infer_schema(X)
    with pytest.raises(ValueError, match="'city' is categorical"):
        NaiveBayes({"city": "gaussian"}, schema=schema).fit(X, y)


def test_all_missing_columns_and_a_class_with_one_row():
    X, y = mixed(50)
    X = X.drop(columns="wait").assign(blank=np.nan, void=pd.Series([None] * 50, dtype="string"))
    y = np.array(y)
    y[0] = "odd"
    model = NaiveBayes({"visits": "counts"}).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    with_value = X.assign(blank=3.0, void="x")
    np.testing.assert_allclose(model.predict_joint_log_proba(with_value), model.predict_joint_log_proba(X))


def test_a_schema_given_by_hand():
    X = pd.DataFrame({"grade": ["bad", "good", "bad", "best"], "zip": [1, 2, 1, 2]})
    schema = infer_schema(X, ordinal={"grade": ["bad", "good", "better", "best"]}, categorical=["zip"])
    model = NaiveBayes(schema=schema).fit(X, [0, 1, 0, 1])
    assert model.kinds_ == {"grade": "ordinal", "zip": "categorical"}
    proba = model.predict_proba(pd.DataFrame({"grade": ["better"], "zip": [None]}))
    assert proba[0, 1] > 0.5  # between good and best, both of class 1


def test_a_class_with_too_little_for_a_family_has_that_of_all():
    X, y = pd.DataFrame({"wait": [1.0, 2.0, 4.0, 3.0]}), [0, 0, 0, 1]
    model = NaiveBayes({"wait": Gamma()}).fit(X, y)
    pooled = Gamma().fit(X.to_numpy())
    np.testing.assert_allclose(model.distributions_[0].members[1].mean, pooled.mean)
    np.testing.assert_allclose(model.predict_joint_log_proba(X)[:, 1], np.log(0.25) + pooled.log_prob(X.to_numpy()))


def test_numbers_as_ordinal_levels():
    X = np.array([[1.0], [2.0], [1.0], [5.0], [4.0], [5.0]])
    model = NaiveBayes({0: "ordinal"}).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.schema_["x0"].categories == (1.0, 2.0, 4.0, 5.0)
    np.testing.assert_array_equal(model.predict(X), [0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="not among its categories"):
        model.partial_fit(np.array([[3.0]]), [0])
    other = NaiveBayes({0: "ordinal"}).fit(X[:4], [0, 0, 0, 1])
    with pytest.raises(ValueError, match="has the levels"):
        model.merge(other)


def test_priors_of_classes_and_of_a_model_of_other_columns():
    X, y = mixed()
    model = NaiveBayes(FAMILIES, priors=[0.9, 0.1]).fit(X, y)
    np.testing.assert_array_equal(model.class_prior_, [0.9, 0.1])
    with pytest.raises(ValueError, match="different columns"):
        model.merge(NaiveBayes().fit(X[["cm"]], y))
    with pytest.raises(ValueError, match="p must be"):
        NaiveBayes(p="even").fit(X[["city"]], y)
    with pytest.raises(ValueError, match="no probability for"):
        NaiveBayes(p={"city": {"Oslo": 1.0}}).fit(X[["city"]], y)
    with pytest.raises(ValueError, match="is expecting 1 features"):
        NaiveBayes().fit(X[["cm"]].to_numpy(), y).predict([[1.0, 2.0]])


def test_marginal_priors_add_one_to_each_count_and_one_for_what_was_never_seen():
    table = pd.DataFrame({"c": ["a", "a", "a", "b", "b", None]})
    y = [0, 0, 1, 1, 1, 0]
    # shares of a and b in all classes: (3 + 1) / (5 + 2) and (2 + 1) / (5 + 2); unseen: 1 / (5 + 2 + 1)
    model = NaiveBayes(m=2.0, p="marginal", priors=[0.5, 0.5]).fit(table, y)
    found = np.exp(model.predict_joint_log_proba(pd.DataFrame({"c": ["a", "b", "never"]}))) / 0.5
    shares = np.array([4 / 7, 3 / 7])
    expected = np.array([[2, 1], [0, 2]]) + 2 * shares[:, None]
    np.testing.assert_allclose(found[:2], expected / (np.array([2, 3]) + 2), rtol=1e-12)
    np.testing.assert_allclose(found[2], 1 / 8, rtol=1e-12)
    even = NaiveBayes(m=2.0, priors=[0.5, 0.5]).fit(table, y)
    unseen = np.exp(even.predict_joint_log_proba(pd.DataFrame({"c": ["never"]})))
    np.testing.assert_allclose(unseen / 0.5, [[1 / 2, 1 / 2]], rtol=1e-12)


def test_ordered_levels_lean_half_on_both_neighbours():
    # (0, 4, 8) of twelve spread along the order: half stays, a quarter goes to each side, what would fall off stays
    near = np.array([0 + 1, 2 + 2, 1 + 4 + 2]) / 12
    expected = (np.array([0, 4, 8]) + 3 * (0.5 / 3 + 0.5 * near)) / 15
    found = m_estimate(np.array([[0.0], [4.0], [8.0]]), np.full(3, 1 / 3), 3.0, ordered=True)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)
