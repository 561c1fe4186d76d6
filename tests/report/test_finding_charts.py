"""The chart and the code of a finding show what its sentence says."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.report.example_contents import contents

from latently.report import explore
from latently.report.charts import charts
from latently.report.findings.code import code_of
from latently.report.findings.finding import Finding


def drawn_as(**finding: Any) -> tuple[Any, list[str]]:
    """The chart of a finding, and the columns of the rows that the page carries."""
    given = contents(40)
    given["insights"][0] |= {"rows": None, "text": ""} | finding
    return charts(given).get("finding-0"), given["table"]["columns"]


def of_kind(kind: str) -> list[str]:
    given = contents(40)
    carried = given["table"]["columns"]
    return [c["name"] for c in given["columns"] if c["kind"] == kind and c["name"] in carried]


def test_bars_of_shares_are_those_of_the_rows_that_the_sentence_speaks_of() -> None:
    part, given = (of_kind("categorical") + of_kind("ordinal"))[:2]
    text = f"{part} is a in 40 % of the rows where {given} is b, and in 10 % of the others."
    for columns in ([part, given], [given, part]):
        chart, names = drawn_as(finding="dependency", columns=columns, text=text)
        assert chart["pair"] == [names.index(part), names.index(given)]


def test_what_is_held_equal_is_in_the_chart() -> None:
    (y, held), group = of_kind("numeric")[:2], of_kind("categorical")[0]
    text = f"At equal {held}, {y} differs by {group}: on average it is 2 higher for a than for b."
    chart, names = drawn_as(finding="dependency", columns=[y, group, held], text=text)
    assert chart["pair"] == [names.index(held), names.index(y), names.index(group)]


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_an_order_is_drawn_along_the_rows(kind: str) -> None:
    columns = [*of_kind(kind)[:1], *of_kind("numeric")[-1:]]
    chart, names = drawn_as(finding="order", columns=columns)
    assert chart["pair"] == [-1, names.index(columns[0])]


def test_a_number_that_is_a_code_stands_beside_the_others() -> None:
    given = contents(40)
    column = next(c for c in given["columns"] if c["kind"] == "numeric" and c.get("histogram"))
    column["codes"] = [{"value": -999, "count": 13, "applied": True, "probability": 0.95}]
    given["insights"][0] |= {"finding": "missing_code", "columns": [column["name"]]}
    chart = charts(given)["finding-0"]
    assert (chart["data"]["code"], chart["data"]["rows"]) == ([-999], [13])
    assert sum(bar["rows"] for bar in chart["spec"]["layer"][0]["data"]["values"]) == sum(column["histogram"]["counts"])
    assert chart["pick"] == {"kind": "code", "column": given["table"]["columns"].index(column["name"])}


def test_heat_maps_need_something_to_show() -> None:
    given = contents(40)
    assert "dependencies" in charts(given)
    matrix = given["dependencies"]["matrix"]
    for other in ({"count": 0}, {"matrix": {"columns": matrix["columns"][:2], "values": [[1, 0.5], [0.5, 1]]}}):
        assert "dependencies" not in charts({**given, "dependencies": given["dependencies"] | other})


def months() -> pd.DataFrame:
    rng, t = np.random.default_rng(0), np.arange(120)
    sales = 50 + t + 20 * np.sin(2 * np.pi * t / 12) + rng.normal(size=120)
    return pd.DataFrame({"month": pd.date_range("2010-01-01", periods=120, freq="MS"), "sales": sales})


def test_a_series_is_drawn_once_with_its_parts_named_and_one_column_has_no_map() -> None:
    found = explore(months(), time="month").to_dict()
    drawn = charts(found)
    assert "trend-0" in drawn
    assert "time-0" not in drawn
    named = [layer["encoding"].get("color", {}).get("datum") for layer in drawn["trend-0"]["spec"]["layer"]]
    assert named[:2] == ["trend and season", "trend"]
    assert "map" not in drawn
    assert "one column" in found["map"]["skipped"]
    assert all(f"finding-{place}" in drawn for place in range(len(found["insights"])))


def test_states_bring_the_series_back() -> None:
    found = explore(months(), time="month").to_dict()
    found["time"]["series"]["state"][:60] = [2] * 60
    assert "time-0" in charts(found)


def test_clusters_of_one_column_are_shown_by_its_distribution() -> None:
    x = np.random.default_rng(0).normal(size=300) + 9 * (np.arange(300) % 2)
    found = explore({"x": x}).to_dict()
    place = next(at for at, each in enumerate(found["insights"]) if each["finding"] == "clusters")
    assert charts(found)[f"finding-{place}"]["same"] == "column-0"


def test_code_of_a_share_gives_the_share() -> None:
    df = pd.DataFrame({"sex": ["f", "f", "m", "m", "m", "f"], "room": ["1", "1", "1", "2", "2", "2"]})
    text = "sex is f in 67 % of the rows where room is 1, and in 33 % of the others."
    for columns in (("sex", "room"), ("room", "sex")):
        code = code_of(Finding("dependency", text, "dependencies", columns, measure="difference"))
        shares = eval(code.splitlines()[-1], {"df": df, "pd": pd})
        assert shares.loc["f", "1"] == pytest.approx(2 / 3)


def test_code_of_medians_gives_the_medians() -> None:
    df = pd.DataFrame({"age": [1.0, 2, 3, 7, 8, 9], "room": list("aaabbb")})
    text = "age differs by room: its median is 8 for b and 2 for a (4 times as much)."
    code = code_of(Finding("dependency", text, "dependencies", ("room", "age"), measure="ratio"))
    assert eval(code, {"df": df})["50%"].to_dict() == {"a": 2.0, "b": 8.0}


def test_code_of_an_order_gives_the_correlation_with_the_row_before() -> None:
    df = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6]})
    text = "The rows are not in a random order: x resembles the row before (rank correlation 1.00)."
    code = code_of(Finding("order", text, "dependencies", ("x",), measure="correlation"))
    assert eval(code, {"df": df}) == pytest.approx(1.0)


def test_many_columns_of_little_weight_are_not_nothing() -> None:
    rng = np.random.default_rng(0)
    block = rng.normal(size=(200, 1)) + 0.4 * rng.normal(size=(200, 30))
    found = explore(block).to_dict()["map"]
    assert found["x_title"].startswith("many columns")
