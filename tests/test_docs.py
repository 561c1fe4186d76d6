"""Every Python block of the documentation runs: those of a page in order, in one module."""

import re
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
ELSEWHERE = {
    "new_model.md": "runs in tests/learn/test_new_model.py",
    "out_of_core.md": "runs in tests/test_out_of_core.py",
}


def blocks(page: Path) -> list[tuple[int, str]]:
    """Python blocks of a page, each with the line it begins in."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)), found.group(1)) for found in BLOCK.finditer(text)]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page) and page.name not in ELSEWHERE], ids=lambda page: page.stem
)
def test_the_page_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    module = ModuleType(f"docs_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # classes of the page are looked up there
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for line, source in blocks(page):
            exec(compile("\n" * line + source, str(page), "exec"), module.__dict__)  # errors name the page's own line
    plt.close("all")
    assert len(blocks(page)) == page.read_text(encoding="utf-8").count("```python")  # none was overlooked


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_index_lists_every_page():
    listed = set(LINK.findall((DOCS / "index.md").read_text(encoding="utf-8")))
    assert {page.name for page in PAGES} - {"index.md"} <= listed


def test_pages_tested_elsewhere_are_still_there():
    assert set(ELSEWHERE) <= {page.name for page in PAGES}
