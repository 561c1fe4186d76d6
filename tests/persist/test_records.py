"""Files outlive moves of code: records have names of their own, and files of an earlier layout can be read."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from latently.distributions import Gamma, Moments
from latently.persist import LoadError, load, read_manifest
from latently.persist.classes import former, is_storable, name_of
from latently.persist.records import FORMER, RECORDS
from latently.predict.statistics import Powers

FILES = Path(__file__).parent / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text())


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_every_name_leads_to_its_class_and_back(name):
    module, _, last = RECORDS[name].partition(":")
    cls = getattr(importlib.import_module(module), last)
    assert is_storable(cls)
    assert name_of(cls) == name
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*/[0-9]+", name)


ONES, EYES = np.ones((2, 3)), np.tile(np.eye(3), (2, 1, 1))
SUMS = {"centre": ONES, "first": ONES}
FIELDS = {
    "numeric-params/1": {"means": ONES, "variances": 2 * ONES},
    "full-params/1": {"means": ONES, "covariances": 2 * EYES},
    "numeric-moments/1": {**SUMS, "weight": ONES, "second": 2 * ONES},
    "full-moments/1": {**SUMS, "weight": np.ones(2), "second": 2 * EYES},
    "numeric-prior/1": {"location": np.ones(3), "pull": np.ones(3), "scatter": 2 * np.ones(3), "rows": np.ones(3)},
    "full-prior/1": {"location": np.ones(3), "pull": 1.0, "scatter": 2 * np.eye(3), "rows": 1.0},
    "bayes-moments/1": {"moments": Moments(*(ONES.ravel(),) * 3, 2 * ONES.ravel()), "shape": (2, 3)},
    "bayes-rates/1": {"rate": 2 * ONES},
    "bayes-gaussian-statistics/1": {
        "by_class": Moments(*(ONES,) * 3, 2 * ONES),
        "powers": Powers(np.ones(3), np.ones((5, 3))),
    },
    "regression-statistics/1": {"moments": Moments(*(np.ones(3),) * 3, 2 * np.eye(3)), "lost": None},
    "bayes-families/1": {"members": (Gamma(1.0, 2.0), Gamma(1.0, 2.0))},
}


@pytest.mark.parametrize("name", sorted(FORMER))
def test_a_record_of_an_earlier_version_is_read_as_what_took_its_place(name):
    found = former(name)(**FIELDS[name])
    assert name not in RECORDS
    assert name_of(type(found)) is not None
    twice = {
        "Params": lambda r: r.variances[0, 0], "Prior": lambda r: r.scatter.ravel()[0],
        "Moments": lambda r: r.second.ravel()[0], "Fitted": lambda r: np.ravel(getattr(r.members[0], "rate", 0))[0],
        "GaussianStatistics": lambda r: r.by_class.second[0, 0],
        "RegressionStatistics": lambda r: r.moments.second[0, 0],
    }  # fmt: skip
    assert next(read for key, read in twice.items() if type(found).__name__.endswith(key))(found) == 2.0


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
