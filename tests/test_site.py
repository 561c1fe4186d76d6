"""The pages of the site that are made from the code: every public name has one."""

import importlib
import pkgutil
import sys
from pathlib import Path

import pytest

import latently

EXTENSIONS = Path(__file__).parents[1] / "docs" / "_ext"
UNDOCUMENTED = {"compiled", "prepare"}  # they offer no names: no `__all__`
PACKAGES = [i.name for i in pkgutil.iter_modules(latently.__path__) if i.ispkg and i.name not in UNDOCUMENTED]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    sys.path.insert(0, str(EXTENSIONS))
    try:
        return importlib.import_module("reference_pages").reference({})
    finally:
        sys.path.remove(str(EXTENSIONS))


@pytest.mark.parametrize("package", ["latently", *(f"latently.{name}" for name in PACKAGES)])
def test_every_public_name_has_a_page(package: str, pages: dict[str, str]) -> None:
    module = importlib.import_module(package)
    names = [n for n in module.__all__ if n != "__version__" and n not in {*PACKAGES, *UNDOCUMENTED}]
    if package != "latently":
        names = list(module.__all__)
    for name in names:
        lines = [line for line in pages[f"{package}.rst"].splitlines() if f":doc:`{name} <" in line]
        assert len(lines) == 1, f"{package}.{name} is not listed"
        home = lines[0].split("<")[1].split(">")[0]
        assert f":: {name}\n" in pages[f"{home}.rst"] + "\n"


def test_packages_without_pages_offer_no_names() -> None:
    assert not any(hasattr(importlib.import_module(f"latently.{name}"), "__all__") for name in UNDOCUMENTED)
