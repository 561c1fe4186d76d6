"""Pages of the site that are made from the code: the reference of public names, and the gallery of examples."""

from pathlib import Path
from typing import Any

from gallery_pages import draw, index, read_example, used_names
from reference_pages import reference


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before Sphinx looks for sources."""
    source = Path(app.srcdir)
    examples = [read_example(path) for path in sorted((source.parent / "examples").glob("*.py"))]
    gallery = source / "gallery"
    gallery.mkdir(exist_ok=True)
    _write(gallery, draw(examples, gallery) | {"index.md": index(examples)})
    pages = reference(used_names(examples))
    _write(source / "reference", pages)
    _drop_others(source / "reference", set(pages))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(folder: Path, pages: dict[str, str]) -> None:
    """Write files that would change, so that Sphinx reads again only what is new."""
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _drop_others(folder: Path, kept: set[str]) -> None:
    """Remove pages of names that are gone."""
    for path in folder.rglob("*.rst"):
        if path.relative_to(folder).as_posix() not in kept:
            path.unlink()
