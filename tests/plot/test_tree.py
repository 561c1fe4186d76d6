"""Trees and partial dependence as pictures: the numbers behind them."""

import numpy as np
import pandas as pd
import pytest

from latently.plot import PartialDependenceDisplay, TreeDisplay
from latently.predict import DecisionTreeClassifier, DecisionTreeRegressor


def shops():
    rng = np.random.default_rng(0)
    city = rng.choice(["Oslo", "Rome", "Paris"], 300, p=[0.5, 0.3, 0.2])
    size = rng.uniform(size=300)
    sales = np.select([city == "Oslo", city == "Rome"], [1.0, 5.0], 9.0) + (size > 0.5)
    table = pd.DataFrame({"city": city, "size": size, "open": size > 0.8})
    table.loc[:4, "city"] = None
    return table, sales


def test_partial_dependence_along_categories_is_the_mean_answer_for_each():
    table, sales = shops()
    tree = DecisionTreeRegressor(min_samples_leaf=5).fit(table, sales)
    display = PartialDependenceDisplay.from_estimator(tree, table, "city", rows=10)
    assert display.grid.tolist() == ["Oslo", "Rome", "Paris"]  # by their share of the rows
    by_hand = [tree.predict(table.assign(city=name)).mean() for name in display.grid]
    assert display.average == pytest.approx(by_hand)
    assert [bar.get_height() for bar in display.bars_] == pytest.approx(by_hand)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["Oslo", "Rome", "Paris"]
    assert display.individual.shape == (3, 10)


def test_partial_dependence_along_truth_values_and_chosen_categories():
    table, sales = shops()
    tree = DecisionTreeClassifier(max_depth=4).fit(table, np.where(sales > 5, "high", "low"))
    display = PartialDependenceDisplay.from_estimator(tree, table, "open", target="high")
    assert set(display.grid.tolist()) == {True, False}
    chosen = PartialDependenceDisplay.from_estimator(tree, table, "city", target="high", grid=["Rome", "Oslo"])
    expected = [tree.predict_proba(table.assign(city=name))[:, 0].mean() for name in ("Rome", "Oslo")]
    assert chosen.average == pytest.approx(expected)


def test_a_column_without_a_known_value_is_named():
    table, sales = shops()
    tree = DecisionTreeRegressor().fit(table, sales)
    lost = table.assign(city=pd.Series([None] * len(table), dtype=object))
    with pytest.raises(ValueError, match="'city' has no known value"):
        PartialDependenceDisplay.from_estimator(tree, lost, "city")


def test_boxes_stand_above_the_middle_of_their_children():
    table, sales = shops()
    boxes = TreeDisplay.from_estimator(DecisionTreeRegressor(max_depth=3).fit(table, sales)).boxes
    for i, box in enumerate(boxes):
        below = [other for other in boxes if other.parent == i]
        assert box.is_leaf is (not below)
        if below:
            assert box.x == pytest.approx(np.mean([other.x for other in below]))
            assert box.samples == sum(other.samples for other in below)
