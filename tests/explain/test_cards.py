"""Cluster cards say what a plain count of the labelled rows says."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans as ForeignKMeans
from sklearn.datasets import load_iris
from sklearn.metrics import mutual_info_score, roc_auc_score

from latently.cluster import GaussianMixture, Mixture
from latently.explain import cluster_cards


class Known:
    """A model that knows the labels."""

    def __init__(self, labels):
        self.labels = np.asarray(labels)

    def get_params(self, deep=False):
        return {}

    def predict(self, X):
        return self.labels


def by_name(card):
    return {entry["column"]: entry for entry in card["columns"]}


@pytest.fixture(scope="module")
def iris():
    bunch = load_iris(as_frame=True)
    return bunch.data, bunch.target.to_numpy()


def test_numbers_of_a_cluster_are_those_of_its_rows(iris):
    X, y = iris
    cards = cluster_cards(Known(y), X)
    assert [card["rows"] for card in cards] == [50, 50, 50]
    for k, card in enumerate(cards):
        assert card["certainty"] == 1
        for name, entry in by_name(card).items():
            own, rest = X.loc[y == k, name], X.loc[y != k, name]
            assert_allclose(entry["mean"], own.mean())
            assert_allclose(entry["sd"], own.std(ddof=0))
            assert_allclose(entry["mean_rest"], rest.mean())
            assert_allclose(entry["difference"], (own.mean() - rest.mean()) / X[name].std(ddof=0))
            assert_allclose(entry["probability_higher"], roc_auc_score(y == k, X[name]))
            assert entry["low"] <= entry["median"] <= entry["high"]


def test_the_column_that_tells_most_comes_first(iris):
    X, y = iris
    card = cluster_cards(Known(y), X)[0]
    assert card["columns"][0]["column"].startswith("petal")
    for name, entry in by_name(card).items():
        tenths = pd.qcut(X[name], 10, labels=False, duplicates="drop")
        assert_allclose(entry["information"], mutual_info_score(y == 0, tenths) / np.log(2))
    told = [entry["information"] for entry in card["columns"]]
    assert told == sorted(told, reverse=True)


def test_categories_come_with_probabilities_and_lift():
    table = pd.DataFrame({"job": ["a", "a", "b", "b", "b", "c", None, "b"], "x": np.arange(8.0)})
    labels = [0, 0, 0, 1, 1, 1, 1, 1]
    card = by_name(cluster_cards(Known(labels), table)[0])["job"]
    assert_allclose(list(card["probabilities"].values()), [2 / 3, 1 / 3, 0])
    assert_allclose(list(card["probabilities_rest"].values()), [0, 3 / 4, 1 / 4])
    assert card["typical"] == "a"
    assert card["lift"] is None
    seen = table["job"].notna().to_numpy()
    expected = mutual_info_score(table["job"][seen], np.array(labels)[seen]) / np.log(2)
    assert_allclose(card["information"], expected)
    other = by_name(cluster_cards(Known(labels), table)[1])["job"]
    assert_allclose([other["missing"], other["lift"]], [1 / 5, (3 / 4) / (1 / 3)])


def test_soft_memberships_weigh_the_rows(iris):
    X, _ = iris
    model = GaussianMixture(3, random_state=0).fit(X)
    for k, card in enumerate(cluster_cards(model, X)):
        for j, name in enumerate(X):
            # at a converged fit a component's mean is that of its expected members
            assert_allclose(by_name(card)[name]["mean"], model.means_[k, j], atol=0.02)
        assert_allclose(card["share"], model.weights_[k], atol=0.01)
        assert model.predict(X.iloc[[card["typical_row"]]])[0] == k
    json.dumps(cluster_cards(model, X))


def test_mixed_tables_and_holes():
    rng = np.random.default_rng(0)
    young = rng.uniform(size=300) < 0.5
    table = pd.DataFrame({"age": np.where(young, 20, 60) + rng.normal(size=300), "job": np.where(young, "s", "r")})
    table.loc[0, "age"], table.loc[1, "job"] = np.nan, None
    cards = cluster_cards(Mixture(2, random_state=0).fit(table), table)
    typical = {by_name(card)["job"]["typical"]: by_name(card)["age"]["mean"] for card in cards}
    assert_allclose([typical["s"], typical["r"]], [20, 60], atol=1)
    json.dumps(cards)


def test_hard_clusters_of_others(iris):
    X, _ = iris
    values = X.to_numpy()
    cards = cluster_cards(ForeignKMeans(3, n_init=1, random_state=0).fit(values), values)
    assert_allclose(sum(card["share"] for card in cards), 1)
    assert cards[0]["columns"][0]["column"] in ("x0", "x1", "x2", "x3")


def test_one_cluster_and_what_has_no_clusters(iris):
    X, y = iris
    card = cluster_cards(Known(np.zeros(len(y), dtype=int)), X)[0]
    assert card["columns"][0]["mean_rest"] is None
    assert card["columns"][0]["probability_higher"] is None
    assert card["columns"][0]["information"] == 0
    with pytest.raises(TypeError, match="neither predict_proba nor predict"):
        cluster_cards(type("Silent", (), {"get_params": Known.get_params})(), X)


def test_quantiles_of_a_cluster_are_those_of_its_rows(iris):
    X, y = iris
    for k, card in enumerate(cluster_cards(Known(y), X)):
        for name, entry in by_name(card).items():
            expected = np.quantile(X.loc[y == k, name], [0.1, 0.5, 0.9], method="inverted_cdf")
            assert [entry["low"], entry["median"], entry["high"]] == expected.tolist()


def test_quantiles_weigh_the_rows_by_membership():
    class Soft(Known):
        def predict_proba(self, X):
            return np.column_stack([self.labels, 1 - self.labels])

    # of the weight of the first cluster, 10 % lie at 1, 80 % at 2 and 3, and 10 % at 4
    table = pd.DataFrame({"x": [4.0, 1.0, 3.0, 2.0, 5.0]})
    entry = by_name(cluster_cards(Soft([0.1, 0.11, 0.5, 0.29, 0.0]), table)[0])["x"]
    assert (entry["low"], entry["median"], entry["high"]) == (1.0, 3.0, 3.0)


def test_equal_values_count_half(iris):
    table = pd.DataFrame({"x": [1.0, 1.0, 2.0, 1.0, 1.0, 0.0]})
    entry = by_name(cluster_cards(Known([0, 0, 0, 1, 1, 1]), table)[0])["x"]
    assert_allclose(entry["probability_higher"], roc_auc_score([1, 1, 1, 0, 0, 0], table["x"]))


def test_memberships_that_rounding_took_beyond_one_are_one():
    class Rounded(Known):
        def predict_proba(self, X):
            return np.column_stack([self.labels, 1 - self.labels]) * (1 + 4e-16)

    labels = np.repeat([0, 1], 20)
    cards = cluster_cards(Rounded(labels), pd.DataFrame({"x": np.arange(40.0), "job": np.repeat(["a", "b"], 20)}))
    assert_allclose([entry["information"] for card in cards for entry in card["columns"]], 1.0)


def test_a_cluster_whose_rows_lack_a_column_has_no_numbers_for_it():
    class Sure:
        def predict_proba(self, X):
            far = np.where(np.arange(40) < 20, 1.0, 1e-30)
            return np.column_stack([far, 1 - far])

    table = pd.DataFrame(
        {"x": [np.nan] * 20 + list(range(20)), "kind": [np.nan] * 20 + ["a", "b"] * 10, "y": range(40)}
    )
    first = by_name(cluster_cards(Sure(), table)[0])
    for name in ("x", "kind"):
        assert first[name] == {"column": name, "kind": first[name]["kind"], "information": 0.0, "missing": 1.0}
    assert first["y"]["mean"] == 9.5
