"""Which findings are made of tables in which something was planted, and how they are told."""

import numpy as np
import pandas as pd
import pytest

from latently.report import explore
from latently.report.findings.blocks import blocks
from latently.report.findings.code import _WRITERS, code_of
from latently.report.findings.finding import Finding
from latently.report.findings.rank import TRIVIAL, ranked
from latently.report.findings.spelling import variants

CITIES = {"Rome": "Italy", "Milan": "Italy", "Lyon": "France", "Paris": "France", "Berlin": "Germany"}


def orders(n=300):
    """A book of orders with the slips that such books have."""
    rng = np.random.default_rng(0)
    city = rng.choice(list(CITIES), n)
    amount, price = rng.integers(1, 20, n), np.round(rng.gamma(4, 5, n) + 1, 2)
    start = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    end = pd.Series(start + pd.to_timedelta(rng.integers(0, 30, n), "D"))
    height, status = rng.normal(175, 8, n), rng.choice(["shipped", "pending", "returned"], n).astype(object)
    end[[5, 77]] = start[[5, 77]] - pd.Timedelta(days=12)
    height[10] *= 10
    status[[3, 4]], status[9] = "Shipped ", "shiped"
    frame = pd.DataFrame({"city": city, "land": [CITIES[c] for c in city], "amount": amount, "price": price})
    frame = frame.assign(total=np.round(amount * price, 2), start=start, end=end, height=height, status=status)
    frame = frame.assign(inches=frame["height"] / 2.54, same="x", order_id=np.arange(n))
    frame.loc[20, "total"] *= 100
    frame.iloc[100, :-1] = frame.iloc[101, :-1]
    frame.loc[100, "price"] += 3
    return frame


@pytest.fixture(scope="module")
def frame():
    return orders()


@pytest.fixture(scope="module")
def found(frame):
    return explore(frame).to_dict()["insights"]


def of_kind(found, kind, *columns):
    return [each for each in found if each["finding"] == kind and set(columns) <= set(each["columns"])]


def test_a_column_that_fixes_another_is_told_with_strength_one(found):
    (fixes,) = of_kind(found, "determines", "city", "land")
    assert fixes["effect"] == 1
    assert "city fixes land" in fixes["text"]


def test_arithmetic_and_the_row_that_breaks_it(found):
    (product,) = of_kind(found, "determines", "total", "amount", "price")
    assert product["rows"] == [20, 100]
    assert "total is amount × price in all but 2 rows" in product["text"]
    assert "in row 20 it is 100 times that" in product["text"]


def test_an_end_before_its_start(found):
    (impossible,) = of_kind(found, "anomaly", "end", "start")
    assert impossible["rows"] == [5, 77]
    assert "end is before start in 2 rows" in impossible["text"]


def test_a_slipped_decimal_point(found):
    (slip,) = of_kind(found, "anomaly", "height")[:1]
    assert slip["rows"] == [10]
    assert "about ten times what the other rows let expect" in slip["text"]
    assert slip["effect"] == 10


def test_spellings_of_one_category(found):
    (spelling,) = of_kind(found, "spelling", "status")
    assert spelling["rows"] == [3, 4, 9]


def test_trivial_findings_are_last_and_one_line_each(found):
    kinds = [each["finding"] for each in found]
    trivial = [kind for kind in kinds if kind in TRIVIAL]
    assert kinds[-len(trivial) :] == trivial
    assert len(set(trivial)) == len(trivial)
    (redundant,) = of_kind(found, "redundant")
    assert "inches is 0.3937 × height" in redundant["text"]
    assert "same never varies" in redundant["text"]


def test_every_line_of_code_runs_in_pandas(found, frame):
    for each in found:
        assert each["code"]
        exec(each["code"], {"df": frame})


def test_every_kind_of_finding_has_code():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"], "c": [1, 2, 2]})
    for kind in _WRITERS:
        about_rows = code_of(Finding(kind, "", "", columns=("a", "b", "c"), rows=(1,)))
        about_columns = code_of(Finding(kind, "", "", columns=("a", "c"), effect=0.5, measure="correlation"), "c")
        for code in (about_rows, about_columns):
            assert "df" in code
            exec(code, {"df": frame})


def grouped_lines(n=240, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    x = rng.normal(size=n) + 4 * group
    return {"x": x, "y": x - 8 * group + 0.7 * rng.normal(size=n), "kind": np.array(["p", "q", "r"])[group].tolist()}


def test_a_correlation_that_turns_round_within_groups():
    found = explore(grouped_lines()).to_dict()["insights"]
    first = found[0]
    assert first["finding"] == "reversal"
    assert set(first["columns"]) == {"x", "y", "kind"}
    frame = pd.DataFrame(grouped_lines())
    pooled = frame[["x", "y"]].corr("spearman").iloc[0, 1]
    assert f"(correlation {pooled:.2f})" in first["text"]
    assert first["effect"] > 1


def test_no_reversal_where_groups_go_with_the_whole():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 240)
    x = rng.normal(size=240) + 3 * group
    table = {"x": x, "y": x + rng.normal(size=240), "kind": np.array(["p", "q", "r"])[group].tolist()}
    assert not of_kind(explore(table).to_dict()["insights"], "reversal")


# admissions to six departments, 1973, from Bickel, Hammel and O'Connell: admitted and rejected men and women
ADMISSIONS = {
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}


def test_admissions_to_berkeley_are_a_reversal():
    rows = [
        (department, sex, admitted)
        for department, counts in ADMISSIONS.items()
        for (sex, admitted), count in zip(
            [("man", "yes"), ("man", "no"), ("woman", "yes"), ("woman", "no")], counts, strict=True
        )
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["department", "sex", "admitted"]).sample(frac=1, random_state=0)
    (turned,) = of_kind(explore(frame).to_dict()["insights"], "reversal")
    assert set(turned["columns"]) == {"department", "sex", "admitted"}
    assert "by 14 points" in turned["text"]  # 44.5 % of the men and 30.4 % of the women
    exec(turned["code"], {"df": frame})


def test_columns_that_move_together_are_one_finding():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=300)
    table = {f"c{j}": factor + 0.4 * rng.normal(size=300) for j in range(6)}
    table["c5"] = -table["c5"]
    found = of_kind(explore(table).to_dict()["insights"], "dependency")
    assert len(found) == 1
    assert "These six columns move together" in found[0]["text"]
    assert "c5 falls when the others rise" in found[0]["text"]


def test_links_by_way_of_another_column_surprise_less():
    links = np.zeros((3, 3))
    for i, j, r in [(0, 1, 0.9), (1, 2, 0.9), (0, 2, 0.5)]:
        links[i, j] = links[j, i] = r
    first, echo = blocks(links, np.zeros((3, 3)), np.zeros(3, dtype=bool))
    assert first.columns == (1, 0, 2)
    assert set(echo.columns) == {0, 2}
    assert echo.surprise == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("levels", "counts", "groups"),
    [
        (["us", "US", "USA", "Canada"], [3, 4, 90, 30], [["USA", "US", "us"]]),
        (["Paris", "paris ", "Lyon"], [40, 2, 20], [["Paris", "paris "]]),
        (["Zürich", "Zurich", "Bern"], [40, 2, 20], [["Zürich", "Zurich"]]),
        (["female", "male", "f"], [40, 50, 4], [["female", "f"]]),
        (["pending", "pendnig", "shipped"], [200, 1, 100], [["pending", "pendnig"]]),
        # not the same: grades, codes, numbers, words that are as common, first letters, short ones
        (["AA", "AA+", "AA-"], [20, 20, 20], []),
        (["a", "A", "b"], [20, 20, 20], []),
        (["1.5", "15", "x"], [20, 20, 20], []),
        (["Austria", "Austral"], [50, 40], []),
        (["increase", "decrease"], [500, 2], []),
        (["Boeing 737", "Boeing 747"], [500, 2], []),
        (["cat", "car"], [500, 2], []),
        (["<=50K", ">50K"], [50, 20], []),
    ],
)
def test_spelling_variants(levels, counts, groups):
    assert variants(levels, counts) == groups


def test_near_duplicates_and_few_duplicates_are_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    frame.iloc[50], frame.iloc[60] = frame.iloc[10], frame.iloc[20]
    frame.loc[60, "c"] = 0.5
    exact, near = of_kind(explore(frame).to_dict()["insights"], "duplicates")
    assert exact["rows"] == [50]
    assert near["rows"] == [20, 60]
    assert near["columns"] == ["c"]


def test_findings_are_ranked_by_size_times_surprise():
    made = [
        Finding("order", "", "", effect=1.0, measure="correlation"),
        Finding("dependency", "", "", effect=-0.95, measure="correlation"),
        Finding("dependency", "", "", effect=0.2, measure="correlation"),
        Finding("target", "", "", effect=0.1, measure="R2"),
        Finding("missingness", "", "", effect=0.4, measure="correlation"),
    ]
    assert [(each.finding, each.effect) for each in ranked(made)] == [
        ("target", 0.1),
        ("dependency", -0.95),
        ("missingness", 0.4),
        ("dependency", 0.2),
        ("order", 1.0),
    ]


def test_gaps_of_one_column_alone_are_told_as_its_own():
    rng = np.random.default_rng(0)
    table = {"two": rng.normal(size=300) + 8 * rng.integers(0, 2, 300), "one": rng.normal(size=300)}
    (clusters,) = of_kind(explore(table).to_dict()["insights"], "clusters")
    assert clusters["columns"] == ["two"]


@pytest.mark.parametrize("name", ["rownames", "Unnamed: 0", ""])
def test_row_names_depend_on_nothing(name):
    """Row names of a part of a file have gaps, and rise with what the file was sorted by."""
    rng = np.random.default_rng(0)
    places = np.sort(rng.choice(300, 100, replace=False))
    found = explore({name: places, "x": places + rng.normal(size=100), "y": rng.normal(size=100)}).to_dict()
    about = {each["finding"] for each in found["insights"] if name in each["columns"]}
    assert about == {"identifier"}


def test_a_number_does_not_fall_with_a_category_of_two():
    rng = np.random.default_rng(0)
    sex = rng.integers(2, size=300)
    table = {"length": rng.normal(size=300) + sex, "sex": np.array(["male", "female"])[sex]}
    (pair,) = explore(table).to_dict()["dependencies"]["pairs"]
    assert "falls" not in pair["text"]
    assert "rises" not in pair["text"]
    assert "where" in pair["text"]


def test_wards_that_differ_by_their_letter_are_no_slips():
    wards = ["inpatient ward a"] * 200 + ["inpatient ward b"] * 2 + ["emergency"] * 100 + ["emergncy"]
    found = explore({"ward": wards, "x": np.arange(len(wards)) * 7919 % 1000}).to_dict()["insights"]
    (spelling,) = [each for each in found if each["finding"] == "spelling"]
    assert "'emergency' (100 rows) and 'emergncy' (1)" in spelling["text"]
    assert "ward" not in spelling["text"].removeprefix("ward")
