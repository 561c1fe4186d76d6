"""The dict as HTML, JSON and Markdown: whole, self-contained, and with every string escaped."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.report.example_contents import HOSTILE, contents, hostile

from latently.report import Report
from latently.report.charts import charts
from latently.report.charts_findings import pair_specs
from latently.report.charts_map import map_chart, tsne_chart

SKIPPABLE = ("clusters", "map", "selection", "anomalies", "missing", "dependencies", "target", "time")


class Reader(HTMLParser):
    """Collects the elements, links and words of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.ids: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_dict_comes_back_and_is_a_copy() -> None:
    given = contents(20)
    report = Report(given)
    told = report.to_dict()
    assert told == given
    told["insights"].clear()
    assert report.to_dict() == given


def test_json_is_the_twin_of_the_dict(tmp_path: Path) -> None:
    report = Report(hostile(20))
    text = report.to_json(tmp_path / "report.json")
    assert json.loads(text) == json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == report.to_dict()


def test_html_is_written_as_it_is_given(tmp_path: Path) -> None:
    text = Report(contents(20)).to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert len(text.encode()) < 1_500_000


def test_the_page_says_what_the_dict_says() -> None:
    given = contents(20)
    words = " ".join(Reader(Report(given).to_html()).words.split())
    for insight in given["insights"]:
        assert insight["text"] in words
    for sentence in given["limits"] + given["warnings"]:
        assert sentence in words
    for name in SKIPPABLE:
        assert given[name]["text"] in words
    assert given["map"]["tsne"]["text"] in words
    assert "250 000 rows" in words.replace("\u202f", " ")
    assert "Computed on a sample of the rows: map, clusters." in words


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = Reader(Report(contents(20)).to_html())
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    assert not [value for name, value in page.attributes if name == "src"]
    assert all(value.startswith("#") for name, value in page.attributes if name == "href" and value)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]


def test_links_lead_somewhere_and_ids_are_unique() -> None:
    page = Reader(Report(contents(20)).to_html())
    targets = {value[1:] for name, value in page.attributes if name == "href" and value}
    assert targets <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_the_policy_allows_these_scripts_and_this_style_only() -> None:
    text = Report(contents(20)).to_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    rules = policy[1].replace("&#39;", "'")
    assert "default-src 'none'" in rules
    assert "unsafe" not in rules
    parts = re.findall(r"<script>(.*?)</script>", text, re.S) + re.findall(r"<style>(.*?)</style>", text, re.S)
    assert len(parts) == 3
    for part in parts:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'" in rules


def test_every_evil_string_is_escaped() -> None:
    text = Report(hostile(20)).to_html()
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    for evil in HOSTILE:
        if "<" in evil:
            assert evil not in outside
    data = re.search(r'<script type="application/json" id="charts">(.*?)</script>', text, re.S)
    assert data
    assert not set("<>&\u2028\u2029") & set(data[1])
    assert json.loads(data[1])["map"]["data"]["row"]


def test_markdown_holds_no_markup_from_the_data() -> None:
    text = Report(hostile(20)).to_markdown()
    assert not re.search(r"(?<!\\)[<>`]", text)
    widths = {}
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines and lines[0].startswith("| "):
            widths[block] = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert widths
    assert all(len(found) == 1 for found in widths.values())


def test_markdown_says_what_the_dict_says() -> None:
    text = Report(contents(20)).to_markdown()
    assert text.startswith("# wages.csv\n")
    assert "1. Rows fall into 3 clusters; what tells them apart most is wage. (probability 99.8 %)" in text
    assert "| wage | numeric | 0 % | 900 |" in text
    assert "## Map of the rows" in text
    assert "\n\nt-SNE: 94 % of the neighbours on this map" in text


@pytest.mark.parametrize("name", SKIPPABLE)
@pytest.mark.parametrize("value", [None, {"skipped": "Too few rows: give more."}])
def test_any_section_may_be_absent_or_skipped(name: str, value: Any) -> None:
    given = contents(20) | {name: value}
    report = Report(given)
    for text in (report.to_html(), report.to_markdown(), report.to_json()):
        assert value is None or "Too few rows: give more." in text


@pytest.mark.parametrize("tsne", [None, {"skipped": "t-SNE <b>: too few rows."}])
def test_the_map_is_drawn_without_tsne(tsne: Any) -> None:
    given = contents(20)
    given["map"]["tsne"] = tsne
    page, text = Report(given).to_html(), Report(given).to_markdown()
    assert 'tall" data-chart="map"' in page
    assert 'tall" data-chart="tsne"' not in page  # the script names it
    assert ("t-SNE &lt;b&gt;: too few rows." in page) == bool(tsne)
    assert ("t-SNE \\<b\\>: too few rows." in text) == bool(tsne)


def test_tsne_points_are_the_map_rows_in_the_same_colours() -> None:
    section = contents(40)["map"]
    linear, placed = map_chart(section), tsne_chart(section)
    assert placed["joins"] == "map"
    assert [linear["data"]["row"][at] for at in placed["data"]["at"]] == section["tsne"]["rows"]
    assert placed["colours"] == linear["colours"]
    assert not {"c0", "cluster"} & set(placed["data"])  # written once in the page


def test_the_least_report_is_shown() -> None:
    report = Report({"source": {"name": "one row", "rows": 1, "columns": 1}, "insights": [], "columns": []})
    assert "Nothing stands out" in report.to_html()
    assert repr(report) == "Report on one row: 1 row, 1 column"


def test_text_and_notebook_forms() -> None:
    report = Report(contents(20))
    assert repr(report).splitlines()[0] == "Report on wages.csv: 250\u202f000 rows, 7 columns"
    assert len(repr(report).splitlines()) == 8
    frame = report._repr_html_()
    assert frame.startswith("<iframe")
    assert "sandbox=" in frame
    assert "<script" not in frame


def test_a_report_is_made_from_a_dict() -> None:
    with pytest.raises(TypeError, match="dict"):
        Report([1])  # type: ignore[arg-type]


def test_large_reports_stay_small() -> None:
    given = contents(3000)
    given["map"]["columns"] = {f"column {i}": [f"level {i} {j % 7}" for j in range(3000)] for i in range(12)}
    given["columns"] = [given["columns"][i % 4] | {"name": f"column {i}"} for i in range(50)]
    given["anomalies"]["rows"] = given["anomalies"]["rows"] * 4
    assert len(Report(given).to_html().encode()) < 3_000_000


def test_no_string_of_the_data_is_in_an_expression() -> None:
    # Vega reads these keys as expressions or as lists that become one
    def keys(node: Any) -> set[str]:
        if isinstance(node, dict):
            return set(node) | set().union(*map(keys, node.values()))
        return set().union(*map(keys, node)) if isinstance(node, list) else set()

    made = charts(hostile(20)).values()
    drawn = [*(chart for chart in made if "spec" in chart), *({"spec": spec} for spec in pair_specs().values())]
    assert all(set(chart) <= {"same", "height", "pair", "absent", "told"} for chart in made if "spec" not in chart)
    for chart in drawn:
        assert not keys(chart["spec"]) & {"expr", "signal", "calculate", "labelExpr", "href", "url"}
        assert not [s for s in _values(chart["spec"], "sort") if s is not None]


def _values(node: Any, name: str) -> list[Any]:
    if isinstance(node, dict):
        return [v for k, v in node.items() if k == name] + [w for v in node.values() for w in _values(v, name)]
    return [w for v in node for w in _values(v, name)] if isinstance(node, list) else []


def test_every_row_of_the_map_has_a_colour_in_every_mode() -> None:
    section = contents(300)["map"]
    section["columns"] |= {
        "flat": [1.0] * 300,
        "empty": [None] * 300,
        "names": [f"level {i % 20}" for i in range(300)],
        "odd": ["missing", "other", None] * 100,
        "close": [1 + 1e-9 * i for i in range(300)],
        "flags": [True, False, None] * 100,
    }
    drawn = map_chart(section)
    assert [mode["label"] for mode in drawn["colours"]][:3] == ["cluster", "doubt", "anomaly"]
    for mode in drawn["colours"]:
        assert len(mode["domain"]) == len(set(mode["domain"])) == len(mode["range"]) == len(mode["shapes"])
        values = drawn["data"][mode["field"]]
        if mode.get("edges"):
            named = len([name for name in mode["domain"] if name != "missing"])
            assert named == len(mode["edges"]) + 1
        assert None not in values or "missing" in mode["domain"]


def test_a_reversal_is_coloured_by_its_groups_however_many_columns_it_names() -> None:
    given = contents(40)
    names = given["table"]["columns"]
    numbers = [c["name"] for c in given["columns"] if c["kind"] == "numeric" and c["name"] in names][:3]
    group = next(c["name"] for c in given["columns"] if c["kind"] == "categorical" and c["name"] in names)
    given["insights"][0] |= {"finding": "reversal", "columns": [*numbers, group]}
    drawn = charts(given)["finding-0"]
    assert drawn["pair"] == [names.index(name) for name in (*numbers[:2], group)]


def test_a_code_for_missing_is_among_the_bars_of_its_finding() -> None:
    given = contents(40)
    column = next(c for c in given["columns"] if c["kind"] == "categorical" and c.get("levels"))
    column["codes"] = [{"value": "N/A", "count": 13, "applied": True, "probability": 0.95}]
    given["insights"][0] |= {"finding": "missing_code", "columns": [column["name"]]}
    data = charts(given)["finding-0"]["data"]
    assert dict(zip(data["level"], data["rows"], strict=True))["N/A"] == 13
    assert data["level"][1] == column["levels"][0]["level"]


def test_clusters_are_drawn_where_they_are_apart() -> None:
    given = contents(40)
    n = len(given["map"]["points"]["row"])
    given["map"]["discriminant"] = {
        "x": list(range(n)), "y": [0.5] * n, "x_title": "mostly wage", "y_title": "mostly age", "text": "apart",
    }  # fmt: skip
    place = next(i for i, found in enumerate(given["insights"]) if found["finding"] == "clusters")
    drawn = charts(given)
    assert drawn["apart"]["data"]["x"] == list(range(n))
    assert drawn[f"finding-{place}"]["same"] == "apart"


def test_one_state_has_no_bands_and_no_chart_of_doubt() -> None:
    given = contents(40)
    given["time"]["series"]["state"] = [1] * len(given["time"]["series"]["state"])
    drawn = charts(given)
    assert "time-doubt" not in drawn
    assert all("x2" not in layer["encoding"] for layer in drawn["time-0"]["spec"]["layer"])
    assert "time-doubt" in charts(contents(40))


def test_a_wide_table_has_a_small_page_with_the_columns_that_findings_name() -> None:
    given = contents(40)
    column = given["columns"][0]
    given["columns"] += [column | {"name": f"gene {at}"} for at in range(3000)]
    given["source"]["columns"] = len(given["columns"])
    given["insights"][0]["columns"] = ["gene 2999"]
    text = Report(given).to_html()
    assert f"100 of {len(given['columns'])} columns" in text.replace("\u202f", "")
    assert "gene 2999</a>" in text
    assert "gene 2500<" not in text
    assert len(text) < 1.1 * len(Report(contents(40)).to_html()) + 200_000
