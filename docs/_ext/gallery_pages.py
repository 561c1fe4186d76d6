"""The gallery: every example run, with its code, what it prints and its figure."""

import ast
import contextlib
import io
import os
import runpy
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

GROUPS = {
    "cluster": "Groups",
    "sequence": "Sequences",
    "predict": "Prediction",
    "factor": "Factors",
    "embed": "Maps",
    "kernel": "Kernels",
    "detect": "What does not belong",
    "explain": "What does not belong",
    "impute": "Missing values",
    "structure": "Structured outputs",
    "neural": "Neural networks",
    "infer": "Inference",
    "decide": "Decisions",
    "learn": "Choice of model",
}


@dataclass(frozen=True)
class Example:
    """A script of the gallery."""

    path: Path
    title: str
    about: str
    body: str
    names: tuple[str, ...]

    @property
    def group(self) -> str:
        """Give its heading: by the first part of its name, or else by the first package that it uses."""
        packages = [name.split(".")[1] for name in self.names if name.count(".") > 1]
        candidates = [self.path.stem.split("_")[0], *packages]
        return next(GROUPS[name] for name in candidates if name in GROUPS)


def read_example(path: Path) -> Example:
    """Read a script: the first line of its docstring is the title."""
    code = path.read_text(encoding="utf-8")
    tree = ast.parse(code)
    title, _, about = (ast.get_docstring(tree) or path.stem).partition("\n")
    body = "\n".join(code.splitlines()[tree.body[0].end_lineno :]).strip()
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = tuple(
        f"{node.module}.{alias.name}"
        for node in imports
        if (node.module or "").startswith("latently")
        for alias in node.names
    )
    return Example(path, title.replace("`", "").strip().rstrip("."), about.strip(), body, names)


def run_example(path: Path, folder: Path) -> str:
    """Run a script in the folder, where it leaves its figure, and give what it prints."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    os.chdir(folder)
    sys.argv = [str(path)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), plt.rc_context():
        runpy.run_path(str(path), run_name="__main__")
    plt.close("all")
    return printed.getvalue()


def draw(examples: list[Example], folder: Path) -> dict[str, str]:
    """Run the examples that are newer than their pages, some at a time; give the text of each new page."""
    pages = {example: folder / f"{example.path.stem}.md" for example in examples}
    old = [e for e, page in pages.items() if not page.exists() or page.stat().st_mtime < e.path.stat().st_mtime]
    if not old:
        return {}
    with ProcessPoolExecutor(min(os.cpu_count() or 1, len(old)), mp_context=get_context("spawn")) as pool:
        printed = list(pool.map(run_example, [e.path for e in old], [folder] * len(old)))
    return {pages[e].name: page(e, text) for e, text in zip(old, printed, strict=True)}


def page(example: Example, printed: str) -> str:
    """Write the page of an example."""
    figure = f"```{{image}} {example.path.stem}.png\n:alt: {example.title}\n```"
    parts = [f"# {example.title}", example.about, figure, f"```python\n{example.body}\n```"]
    return "\n\n".join([*parts, "It prints:", f"```text\n{printed.rstrip()}\n```", ""])


def index(examples: list[Example]) -> str:
    """Write the page of small pictures, a heading for each group."""
    parts = [
        "# Gallery",
        "Programs of some fifty lines, each with a figure, on data that comes with scikit-learn or is simulated.",
    ]
    for group in dict.fromkeys(GROUPS.values()):
        inside = [example for example in examples if example.group == group]
        if inside:
            parts += [f"## {group}", "::::{container} gallery", *map(_thumbnail, inside), "::::"]
    listed = "\n".join(example.path.stem for example in examples)
    return "\n\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{listed}\n```", ""])


def _thumbnail(example: Example) -> str:
    stem = example.path.stem
    return f":::{{figure}} {stem}.png\n:alt: {example.title}\n:target: {stem}.html\n\n[{example.title}]({stem}.md)\n:::"


def used_names(examples: list[Example]) -> dict[str, list[tuple[str, str]]]:
    """Give for each public name the examples that import it."""
    used: dict[str, list[tuple[str, str]]] = {}
    for example in examples:
        for name in example.names:
            used.setdefault(name, []).append((example.path.stem, example.title))
    return used
