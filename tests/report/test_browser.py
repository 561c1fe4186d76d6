"""The page in a real browser: silent, harmless, usable by pointer, by keyboard and by screen reader."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.report.example_contents import contents, hostile

from latently.report import Report, example_table, explore

REQUIRED = os.environ.get("LATENTLY_REQUIRE_BROWSER") == "1"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
N = 200
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def _reason() -> str | None:
    try:
        import axe_playwright_python
        import playwright  # noqa: F401
    except ModuleNotFoundError as problem:
        return f"{problem.name} is not installed"
    return None if CHROMIUM and axe_playwright_python else "there is no chromium here"


if not REQUIRED and _reason():
    pytest.skip(str(_reason()), allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: Any) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {"good": folder / "good.html", "hostile": folder / "hostile.html"}
    Report(contents(N)).to_html(paths["good"])
    Report(hostile()).to_html(paths["hostile"])
    return paths


class Visit:
    """An open page, with all that it said and asked for."""

    def __init__(self, browser: Any, path: Path, width: int = 1280, scheme: str = "light") -> None:
        size = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", timeout=60_000)

    def open_all(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        all_drawn = "[...document.querySelectorAll('[data-chart]')].every(e => e.dataset.drawn)"
        self.page.wait_for_function(all_drawn, timeout=60_000)

    def point_at_a_row(self) -> str:
        """Move to the last point drawn, which nothing covers, and read what is told."""
        self.page.mouse.move(0, 0)
        point = self.page.locator("[data-chart=map] .mark-symbol.role-mark path").last
        point.scroll_into_view_if_needed()
        self.page.wait_for_timeout(100)
        point.hover()
        self.page.wait_for_selector("#tip:not([hidden])", timeout=5_000)
        return self.page.locator("#tip").inner_text()

    def key(self, chart: str, *keys: str) -> None:
        """Go to a chart by the keyboard, and press keys there."""
        self.page.focus(f"[data-chart='{chart}']")
        for key in keys:
            self.page.keyboard.press(key)

    def rows(self) -> list[list[str]]:
        """What the window of rows shows, line by line."""
        lines = "[...document.querySelectorAll('#rows tbody tr')].map(r => [...r.children].map(c => c.textContent))"
        found = self.page.evaluate(lines)
        self.page.keyboard.press("Escape")
        assert not self.page.locator("#rows").is_visible()
        return found

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.fixture(scope="module")
def visit(browser: Any, files: dict[str, Path]) -> Iterator[Visit]:
    with Visit(browser, files["good"]) as opened:
        yield opened


@pytest.fixture(scope="module")
def attack(browser: Any, files: dict[str, Path]) -> Iterator[Visit]:
    with Visit(browser, files["hostile"]) as opened:
        yield opened


def test_keyboard_reaches_the_findings_first(visit: Visit) -> None:
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.className") == "skip"
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.activeElement.id") == "main"


def test_the_page_is_silent_and_asks_for_nothing(visit: Visit, files: dict[str, Path]) -> None:
    visit.open_all()
    assert visit.said == []
    assert visit.asked == [files["good"].as_uri()]


def test_bars_of_a_histogram_stand_on_the_axis(visit: Visit) -> None:
    visit.open_all()
    bars = "[...document.querySelectorAll('[data-chart=column-0] .mark-rect.role-mark path')]"
    boxes = visit.page.evaluate(f"{bars}.map(p => p.getBBox()).map(b => [b.y + b.height, b.height])")
    counts = contents(N)["columns"][0]["histogram"]["counts"]
    heights = [height for _, height in boxes]
    assert [bottom for bottom, _ in boxes] == pytest.approx([150] * len(counts), abs=1)
    assert heights == pytest.approx([count / max(counts) * max(heights) for count in counts], abs=1)


def test_pointing_at_a_row_of_the_map_tells_it(visit: Visit) -> None:
    words = visit.point_at_a_row().replace("\u202f", "")
    last = contents(N)["map"]["points"]
    assert f"row\n{last['row'][-1]}\n" in words
    assert f"cluster\n{last['cluster'][-1]}\n" in words
    assert f"doubt\n{100 * last['doubt'][-1]:.1f} %" in words
    visit.page.keyboard.press("Escape")
    assert not visit.page.locator("#tip").is_visible()


def test_colour_switch_changes_the_colours_and_the_legend(visit: Visit) -> None:
    before = _fills(visit)
    visit.page.select_option("#colour", label="doubt")
    visit.page.wait_for_selector("[data-chart=map][data-drawn]")
    after = _fills(visit)
    assert before != after
    assert all("--s" in fill for fill in after)
    assert "80 to 100 %" in visit.page.locator("[data-chart=map]").text_content()
    labels = visit.page.locator("#colour option").all_text_contents()
    assert labels == ["cluster", "doubt", "anomaly", "wage", "sector"]


def _fills(visit: Visit) -> set[str]:
    marks = "[...document.querySelectorAll('[data-chart=map] .mark-symbol.role-mark path')]"
    return set(visit.page.evaluate(f"{marks}.map(p => p.getAttribute('fill'))"))


def test_tsne_is_drawn_beside_the_map_and_recoloured_by_key(browser: Any, files: dict[str, Path]) -> None:
    placed = contents(N)["map"]["tsne"]
    doubtful = sum(trust < placed["faint"] for trust in placed["trust"])
    marks = "[...document.querySelectorAll('[data-chart=tsne] .mark-symbol.role-mark path')]"
    with Visit(browser, files["good"]) as opened:
        opacities = opened.page.evaluate(f"{marks}.map(p => p.getAttribute('opacity'))")
        assert Counter(opacities) == {"0.3": doubtful, "0.85": len(placed["rows"]) - doubtful}
        boxes = [opened.page.locator(f"[data-chart={name}]").bounding_box() for name in ("map", "tsne")]
        assert boxes[0]["y"] == boxes[1]["y"]
        opened.page.focus("#colour")
        opened.page.keyboard.press("ArrowDown")
        opened.page.wait_for_function(f"{marks}.length && {marks}.every(p => p.getAttribute('fill').includes('--s'))")
        assert opened.said == []


def test_tables_sort_by_a_click_or_a_key(visit: Visit) -> None:
    table = visit.page.locator("#anomalies table")
    button = table.get_by_role("button", name="surprise (nats)")
    button.click()
    rows = "[...document.querySelectorAll('#anomalies tbody tr')].map(r => Number(r.children[2].dataset.value))"
    found = visit.page.evaluate(rows)
    assert found == sorted(found)
    assert table.locator("th[aria-sort=ascending]").count() == 1
    button.press("Enter")
    assert visit.page.evaluate(rows) == sorted(found, reverse=True)
    assert table.locator("th[aria-sort=descending]").count() == 1


def test_a_click_on_a_point_shows_its_row(visit: Visit) -> None:
    visit.point_at_a_row()
    visit.page.mouse.down()
    visit.page.mouse.up()
    table = contents(N)["table"]
    at = table["row"].index(contents(N)["map"]["points"]["row"][-1])
    assert visit.page.locator("#rows h2").inner_text().replace("\u202f", "") == f"Row {table['row'][at]}"
    shown = dict(zip(*(visit.page.locator(f"#rows {tag}").all_inner_texts() for tag in ("dt", "dd")), strict=True))
    assert shown["sector"] == table["values"][3][at]
    assert float(shown["wage"]) == table["values"][0][at]
    visit.page.keyboard.press("Escape")


def test_a_bar_and_a_pair_show_rows_by_the_keyboard(visit: Visit) -> None:
    table = contents(N)["table"]
    visit.open_all()
    visit.key("column-0", "Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "Enter")
    edges = contents(N)["columns"][0]["histogram"]["edges"]
    inside = [row for row, v in zip(table["row"], table["values"][0], strict=True) if v and edges[4] <= v < edges[5]]
    assert [int(line[0].replace("\u202f", "")) for line in visit.rows()] == inside
    visit.key("dependencies", "Home", "ArrowRight", "Enter")
    names = visit.page.locator("#rows h2").inner_text().split(" and ")
    assert names[0] != names[1]
    visit.page.wait_for_selector("#rows .chart svg")
    assert visit.page.locator("#rows thead th").all_inner_texts()[1:3] == names
    assert len(visit.rows()) == 50
    assert visit.said == []


def test_anomalies_and_findings_lead_to_their_rows(visit: Visit) -> None:
    visit.page.locator("#anomalies tbody [data-row]").first.press("Enter")
    assert "-40" in visit.page.locator("#rows dd").all_inner_texts()
    visit.page.locator("#rows").get_by_role("button", name="Close").click()
    visit.page.locator("[data-rows='2']").press("Enter")
    assert [line[:2] for line in visit.rows()] == [["4061", "-40"], ["4078", "-40"]]


def test_code_is_copied(browser: Any, files: dict[str, Path]) -> None:
    with Visit(browser, files["good"]) as opened:
        opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
        button = opened.page.locator("[data-copy='code-1']")
        button.press("Enter")
        opened.page.locator("[data-copy='code-1']", has_text="Copied").wait_for()
        assert opened.page.evaluate("navigator.clipboard.readText()") == contents(N)["insights"][1]["code"]


def test_every_chart_that_shows_rows_is_reached_by_tab(visit: Visit) -> None:
    visit.open_all()
    picks = "[...document.querySelectorAll('.chart.picks')].filter(e => !e.closest('dialog'))"
    assert visit.page.evaluate(f"{picks}.length") >= 10
    assert visit.page.evaluate(f"{picks}.every(e => e.tabIndex === 0 && e.ariaLabel.includes('Arrow keys'))")


def test_paper_has_the_charts_and_no_buttons(browser: Any, files: dict[str, Path]) -> None:
    with Visit(browser, files["good"]) as opened:
        opened.page.emulate_media(media="print")
        assert opened.page.locator("[data-chart='finding-0'] svg").is_visible()
        assert opened.page.locator("[data-chart=map] svg").is_visible()
        assert not opened.page.locator("[data-copy]").first.is_visible()


def test_folded_charts_are_drawn_before_paper_is_printed(browser: Any, files: dict[str, Path]) -> None:
    """A printer does not wait: no timer and no event may come between."""
    with Visit(browser, files["good"]) as opened:
        charts = "[...document.querySelectorAll('.columns [data-chart]')]"
        assert not opened.page.evaluate(f"{charts}.some(e => e.querySelector('svg'))")
        at_once = "dispatchEvent(new Event('beforeprint')); for (let i = 0; i < 2000; i++) await null;"
        drawn = f"(async () => {{ {at_once} return {charts}.every(e => e.querySelector('svg')); }})()"
        assert opened.page.evaluate(drawn)


def test_years_and_names_are_written_as_people_do(browser: Any, tmp_path: Path) -> None:
    given = contents(N)
    given["columns"][0] |= {"name": "flipper_length_mm", "min": 1950, "max": 2010}
    given["columns"][0]["histogram"] = {"edges": [1950, 1970, 1990, 2010], "counts": [3, 4, 5]}
    path = tmp_path / "years.html"
    Report(given).to_html(path)
    with Visit(browser, path) as opened:
        opened.open_all()
        ticks = opened.page.locator("[data-chart='column-0']").text_content()
        assert "1970" in ticks
        assert "1,9" not in ticks
        name = opened.page.locator("#columns tbody th").first
        height = "e => e.getClientRects()[0].height"
        assert name.locator(".whole").evaluate(height) < 1.6 * 16
        assert "1950" in opened.page.locator("#columns tbody tr").first.inner_text()


def test_headings_descend_one_step_at_a_time(visit: Visit) -> None:
    levels = visit.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_every_width_holds_the_page_and_its_charts(visit: Visit, attack: Visit, width: int) -> None:
    for opened in (visit, attack):
        opened.page.set_viewport_size({"width": width, "height": 900})
        opened.page.wait_for_timeout(300)
        assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    over = "e.querySelector('svg').getBoundingClientRect().right > e.getBoundingClientRect().right"
    drawn = "[...document.querySelectorAll('.chart[data-drawn]')]"
    assert visit.page.evaluate(f"{drawn}.filter(e => {over}).map(e => e.dataset.chart)") == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_no_accessibility_issue_that_is_serious(visit: Visit, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    visit.page.set_viewport_size({"width": width, "height": 900})
    if visit.page.get_attribute("html", "data-theme") != scheme:
        visit.page.click("#theme")
    visit.open_all()
    found = Axe().run(visit.page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")] == []


def test_light_and_dark_follow_the_system_and_the_switch(browser: Any, files: dict[str, Path]) -> None:
    with Visit(browser, files["good"], scheme="dark") as opened:
        paper = "getComputedStyle(document.body).backgroundColor"
        dark = opened.page.evaluate(paper)
        assert opened.page.get_attribute("html", "data-theme") == "dark"
        opened.page.emulate_media(media="print")
        assert opened.page.evaluate(paper) == "rgb(255, 255, 255)"
        assert not opened.page.locator("nav.contents").is_visible()
        opened.page.emulate_media(media="screen", color_scheme="dark")
        opened.page.click("#theme")
        assert opened.page.get_attribute("html", "data-theme") == "light"
        assert opened.page.evaluate(paper) != dark
        opened.page.reload()
        assert opened.page.get_attribute("html", "data-theme") == "light"  # the reader's word is kept


def test_a_hostile_table_does_nothing(attack: Visit, files: dict[str, Path]) -> None:
    page = attack.page
    attack.open_all()
    for place in range(page.locator("#colour option").count()):
        page.select_option("#colour", index=place)
        page.wait_for_selector("[data-chart=map][data-drawn]")
        attack.point_at_a_row()
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, iframe, object, embed, svg[onload], [onerror]").count() == 0
    assert page.locator("script").count() == 4
    assert attack.said == []
    assert attack.asked == [files["hostile"].as_uri()]


def test_rows_of_a_hostile_table_are_text(attack: Visit) -> None:
    page = attack.page
    for button in ("[data-row]", "[data-rows]"):
        page.locator(button).first.click()
        assert page.locator("#rows").is_visible()
        page.keyboard.press("Escape")
    for name in ("dependencies", "map", "finding-1"):
        attack.key(name, "Home", "Enter")
        assert page.locator("#rows").is_visible()
        assert page.locator("#rows .inside").inner_text()
        page.keyboard.press("Escape")
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, iframe, object, embed, [onerror]").count() == 0
    assert attack.said == []


def test_the_policy_stops_a_script_that_got_in(attack: Visit) -> None:
    slip = "document.body.append(Object.assign(document.createElement('script'), {text: 'window.slipped = 1'}))"
    attack.page.evaluate(slip)
    assert attack.page.evaluate("window.slipped") is None
    assert any("Content Security Policy" in said for said in attack.said)


def test_a_notebook_shows_the_page_in_a_frame(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>n</title>{Report(contents(50))._repr_html_()}", encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(timeout=60_000)
    assert frame.locator("h1").inner_text() == "wages.csv"
    frame.locator("[data-chart=map] svg").wait_for(state="attached", timeout=60_000)  # drawn after the page is ready
    assert frame.locator("[data-chart=map] svg").count() == 1
    context.close()


def _rows_of_a_moment(opened: Visit, table: dict[str, Any], series: dict[str, Any]) -> None:
    """By a key and by a click: the chart of a series leads to the row of the moment."""
    for name, values in zip(("time-0", "time-1"), series["columns"].values(), strict=False):
        day = [at for at, value in zip(series["at"], values, strict=True) if value is not None][2]
        opened.key(name, "Home", "ArrowRight", "ArrowRight", "Enter")
        assert opened.page.locator("#rows h2").inner_text() == f"day is {day}"
        shown = dict(zip(*(opened.page.locator(f"#rows {tag}").all_inner_texts() for tag in ("dt", "dd")), strict=True))
        assert shown["species"] == table["species"][table["day"].index(day)]
        opened.page.keyboard.press("Escape")
    box = opened.page.locator("[data-chart='time-0'] svg").bounding_box()
    opened.page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"])
    assert opened.page.locator("#rows h2").inner_text().startswith("day is 2024-0")
    opened.page.keyboard.press("Escape")


def test_a_real_report_is_silent_and_accessible(browser: Any, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    table, name, _ = example_table()
    n = len(table["species"])
    table["day"] = [f"2024-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in range(n)]
    path = tmp_path / "real.html"
    report = explore(table, target="species", time="day", name=name)
    report.to_html(path)
    with Visit(browser, path) as opened:
        opened.open_all()
        opened.point_at_a_row()
        _rows_of_a_moment(opened, table, report.to_dict()["time"]["series"])
        found = Axe().run(opened.page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")] == []
        assert opened.said == []
        assert opened.asked == [path.as_uri()]


@pytest.fixture(scope="module")
def passengers(browser: Any, tmp_path_factory: Any) -> Iterator[Visit]:
    """A page of classes, of which numbers are missing here and there."""
    rng = np.random.default_rng(0)
    room = rng.integers(3, size=600)
    table = {
        "class_of_the_cabin": np.array(["first", "second", "third"])[room],
        "sex": np.array(["female", "male"])[(rng.random(600) < 0.2 + 0.3 * room).astype(int)],
        "age_in_years_at_departure": np.where(rng.random(600) < 0.2 * room, np.nan, rng.normal(40 - 8 * room, 5)),
        "fare_paid_in_pounds": rng.normal(60 - 20 * room, 4),
    }
    path = tmp_path_factory.mktemp("passengers") / "page.html"
    explore(table).to_html(path)
    with Visit(browser, path) as opened:
        yield opened


def place_of(opened: Visit, words: str) -> str:
    """The chart of the first finding with these words."""
    return opened.page.locator(".insights li", has_text=words).first.locator("[data-chart]").get_attribute("data-chart")


def test_bars_of_what_is_missing_show_the_rows_in_which_it_is(passengers: Visit) -> None:
    chart = place_of(passengers, "Missing values are not random")
    passengers.page.locator(f"[data-chart='{chart}'] .mark-rect path[fill='var(--c2)']").first.click()
    assert "age_in_years_at_departure is missing" in passengers.page.locator("#rows h2").inner_text()
    head = passengers.page.locator("#rows thead th").all_inner_texts()
    found = passengers.rows()
    assert len(found) > 5
    assert {line[head.index("age_in_years_at_departure")] for line in found} == {"missing"}


def test_bars_of_shares_show_the_rows_of_both_classes(passengers: Visit) -> None:
    chart = place_of(passengers, "sex is male in")
    passengers.key(chart, "End", "Enter")
    title = passengers.page.locator("#rows h2").inner_text()
    told = dict(part.split(" is ") for part in title.split(", "))
    head = passengers.page.locator("#rows thead th").all_inner_texts()
    for line in passengers.rows():
        assert {name: line[head.index(name)] for name in told} == told


def test_titles_of_axes_are_broken_between_words_and_never_cut(passengers: Visit) -> None:
    passengers.open_all()
    titles = passengers.page.locator("[data-chart] .role-axis-title").all_text_contents()
    assert any(" and " in title for title in titles)
    assert not [title for title in titles if "…" in title]
    labels = passengers.page.locator("[data-chart=dependencies] .role-axis-label").all_text_contents()
    assert any("age_in_years_at_departure" in label for label in labels)
    assert not [label for label in labels if "…" in label]


def test_charts_of_findings_fit_on_paper(browser: Any, files: dict[str, Path]) -> None:
    with Visit(browser, files["good"]) as opened:
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": 420, "height": 900})
        over = "e => e.querySelector('svg').getBoundingClientRect().right > e.getBoundingClientRect().right + 1"
        charts = "[...document.querySelectorAll('.insights [data-chart]')].filter(e => e.querySelector('svg'))"
        assert opened.page.evaluate(f"{charts}.length") >= 3
        assert opened.page.evaluate(f"{charts}.filter({over}).map(e => e.dataset.chart)") == []


def test_a_click_anywhere_in_a_series_shows_the_rows_of_that_moment(browser: Any, tmp_path: Path) -> None:
    t = np.arange(120)
    sales = 50 + t + 20 * np.sin(2 * np.pi * t / 12) + np.random.default_rng(0).normal(size=120)
    months = np.arange("2010-01", "2020-01", dtype="datetime64[M]").astype("datetime64[s]")
    explore(pd.DataFrame({"month": months, "sales": sales}), time="month").to_html(tmp_path / "page.html")
    with Visit(browser, tmp_path / "page.html") as opened:
        chart = opened.page.locator(
            "#time [data-chart='trend-0'] svg g.root rect.background, #time [data-chart='trend-0'] svg path.background"
        ).first
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        for share, year in ((0.02, "2010"), (0.5, "2015"), (0.98, "2019")):
            opened.page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 10)
            opened.page.wait_for_selector("#rows[open]", timeout=5_000)
            assert (
                opened.page.locator("#rows h2").inner_text().startswith(f"month is {year if share != 0.5 else '201'}")
            )
            opened.page.keyboard.press("Escape")
