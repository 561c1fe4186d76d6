"""Trees as rules."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from tests.predict.tree.tables import tennis

from latently.predict import DecisionTreeClassifier, DecisionTreeRegressor

X, Y = load_iris(return_X_y=True, as_frame=True)


def test_rules_say_what_the_tree_says():
    tree = DecisionTreeClassifier(max_depth=3).fit(X, Y)
    rows = X.rename(columns=lambda name: name.replace(" (cm)", "").replace(" ", "_"))
    renamed = DecisionTreeClassifier(max_depth=3).fit(rows, Y)
    told = renamed.rules(frame=True)
    assert told["samples"].sum() == 150
    for rule, answer, samples in zip(told["rule"], told["answer"], told["samples"], strict=True):
        mine = rows.query(rule)
        assert len(mine) == samples
        assert (renamed.predict(mine) == answer).all()
    assert len(tree.rules()) == tree.get_n_leaves()


def test_an_explanation_has_the_evidence_of_each_step():
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    found = tree.explain(X.iloc[[60]])
    assert [step.samples for step in found.steps] == [150, 100, 54]
    assert found.steps[1].column in ("petal length (cm)", "petal width (cm)")
    assert found.steps[1].gain == pytest.approx(1 / 3)  # 2/3 before, 1/3 on average after
    assert found.answer == 1
    assert sum(found.steps[2].value) == pytest.approx(1)
    assert str(found).startswith("1, since")
    assert str(tree.explain(X.iloc[60].to_numpy())) == str(found) == str(tree.explain(X.iloc[60].to_dict()))


def test_a_missing_value_is_told():
    table, y = tennis()
    tree = DecisionTreeClassifier.id3().fit(table, y)
    row = {"outlook": None, "temperature": "hot", "humidity": "high", "wind": "weak"}
    assert "outlook is missing" in str(tree.explain(row))
    assert "outlook = sunny" in str(tree.explain(row | {"outlook": "sunny"}))


def test_one_row_only():
    tree = DecisionTreeRegressor(max_depth=2).fit(X.to_numpy(), Y)
    assert tree.explain(X.to_numpy()[0]).answer == 0.0
    with pytest.raises(ValueError, match="one row"):
        tree.explain(X.to_numpy()[:2])
    with pytest.raises(ValueError, match="'x3'"):
        tree.explain({"x0": 1.0, "x1": 1.0, "x2": 2.0})


def test_groups_are_named():
    table = pd.DataFrame({"c": list("abcdef") * 4})
    tree = DecisionTreeClassifier().fit(table, table["c"].isin(["a", "f"]))
    assert {str(rule) for rule in tree.rules()} == {"c in {a, f}: True", "c not in {a, f}: False"}


def test_a_root_alone():
    tree = DecisionTreeClassifier().fit(np.ones((4, 1)), [0, 1, 1, 1])
    assert [str(rule) for rule in tree.rules()] == ["always: 1"]
    assert str(tree.explain([1.0])) == "1 for every row"
