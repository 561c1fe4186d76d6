"""Files outlive moves of code: records have names of their own, and files of an earlier layout can be read."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from latently.persist import LoadError, load, read_manifest
from latently.persist.classes import is_storable, name_of
from latently.persist.records import RECORDS

FILES = Path(__file__).parent / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text())


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_every_name_leads_to_its_class_and_back(name):
    module, _, last = RECORDS[name].partition(":")
    cls = getattr(importlib.import_module(module), last)
    assert is_storable(cls)
    assert name_of(cls) == name
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*/[0-9]+", name)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_file_written_under_another_layout_of_modules_is_read(name):
    case = EXPECTED[name]
    model = load(FILES / name)
    X = np.array(case["X"], dtype=float)
    X = X.astype(int) if case["codes"] else X
    np.testing.assert_allclose(getattr(model, case["verb"])(X), case["answer"], rtol=1e-10)
    if case["more"]:
        model.partial_fit(X)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_files_name_no_module_inside_a_package(name):
    named = re.findall(r'"class": "([^"]*)"', json.dumps(read_manifest(FILES / name)))
    assert named
    assert all(re.fullmatch(r"latently\.[a-z]+\.[A-Z]\w*|[a-z-]+/[0-9]+", each) for each in named)
    assert any("/" in each for each in named)


def test_an_unknown_record_is_named_with_what_wrote_it(tmp_path):
    from latently.data.storage import container

    name = sorted(EXPECTED)[0]
    manifest, arrays = container.read(FILES / name)
    changed = json.loads(re.sub(r'"[a-z-]+/1"', '"gaussian-moments/99"', json.dumps(manifest)))
    changed["versions"]["latently"] = "7.0"
    container.write(tmp_path / "model.latently", changed, arrays)
    with pytest.raises(LoadError, match=r"'gaussian-moments/99'.*does not know.*written by latently 7\.0"):
        load(tmp_path / "model.latently")
