"""Pages of the site that are made from the code: the reference of public names, and the gallery of examples."""

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import latently

PRIVATE = ("compiled",)


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before Sphinx looks for sources."""
    source = Path(app.srcdir)
    write_reference(source / "reference")
    write_gallery(source / "gallery", source.parent / "examples")
    return {"parallel_read_safe": True}


def write_reference(folder: Path) -> None:
    """One page for each package, with a table of its public names, each of which has a page of its own."""
    folder.mkdir(exist_ok=True)
    names = [info.name for info in pkgutil.iter_modules(latently.__path__) if info.ispkg and info.name not in PRIVATE]
    homes: dict[int, str] = {}
    for name in names:
        _written(folder / f"{name}.rst", _package(f"latently.{name}", homes))
    lines = ["API reference", "=============", "", ".. toctree::", "   :maxdepth: 1", "", *[f"   {n}" for n in names]]
    _written(folder / "index.rst", "\n".join(lines) + "\n")


def _package(name: str, homes: dict[int, str]) -> str:
    """The page of a package; what a package before it has as well is only named."""
    package = importlib.import_module(name)
    public = [n for n in getattr(package, "__all__", []) if not inspect.ismodule(getattr(package, n))]
    own = [n for n in public if homes.setdefault(id(getattr(package, n)), name) == name]
    about = (package.__doc__ or "").strip().splitlines()[0]
    table = ["", f".. currentmodule:: {name}", "", ".. autosummary::", "   :toctree: names", "   :nosignatures:", ""]
    rows = [*table, *[f"   {n}" for n in own]] if own else []
    also = [f"``{n}`` is described in ``{homes[id(getattr(package, n))]}``." for n in public if n not in own]
    return "\n".join([name, "=" * len(name), "", about, *rows, "", *also]) + "\n"


def write_gallery(folder: Path, examples: Path) -> None:
    """Run every example and write a page with its code, what it prints and its figure."""
    folder.mkdir(exist_ok=True)
    scripts = sorted(examples.glob("*.py"))
    pages = {script: folder / f"{script.stem}.md" for script in scripts}
    old = [s for s, page in pages.items() if not page.exists() or page.stat().st_mtime < s.stat().st_mtime]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each example is a process of its own
        for script, printed in zip(old, pool.map(lambda s: _run(s, folder), old), strict=True):
            _written(pages[script], _example(script, printed))
    entries = "\n".join(script.stem for script in scripts)
    _written(folder / "index.md", f"# Gallery\n\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n")


def _run(script: Path, folder: Path) -> str:
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def _example(script: Path, printed: str) -> str:
    code = script.read_text(encoding="utf-8")
    tree = ast.parse(code)
    title, _, about = (ast.get_docstring(tree) or script.stem).partition("\n")
    body = "\n".join(code.splitlines()[tree.body[0].end_lineno :]).strip()
    figure = f"![{title}]({script.stem}.png)"
    output = f"```text\n{printed.rstrip()}\n```"
    return f"# {title.rstrip('.')}\n\n{about.strip()}\n\n{figure}\n\n```python\n{body}\n```\n\nIt prints:\n\n{output}\n"


def _written(path: Path, text: str) -> None:
    """Write a file if it would change, so that Sphinx reads again only what is new."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
