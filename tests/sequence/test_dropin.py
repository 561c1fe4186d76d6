"""hmmlearn's own public tests, with our classes in place of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

hmmlearn = pytest.importorskip("hmmlearn")

LEFT_OUT = {
    "test_underflow_from_scaling[scaling]": "demands that an outlier breaks the fit; ours does not break",
    "test__check_and_set_categorical_n_features": "a private helper, which takes a row for a column",
}
CONFTEST = """
import numpy as np


def pytest_runtest_setup():
    np.random.seed(0)


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if not item.nodeid.rpartition("::")[2].startswith(tuple({left_out}))]
"""
MODULES = (
    "test_gaussian_hmm",
    "test_categorical_hmm",
    "test_poisson_hmm",
    "test_gmm_hmm_new",
    "test_gmm_hmm_multisequence",
)
PASSING = 97 + 20 + 12 + 70 + 8


def rewritten(name: str) -> str:
    source = (Path(hmmlearn.__file__).parent / "tests" / f"{name}.py").read_text(encoding="utf-8")
    source = re.sub(r"^from (\.\.|hmmlearn) import hmm$", "from latently import sequence as hmm", source, flags=re.M)
    source = re.sub(r"^from \.\.hmm import", "from latently.sequence import", source, flags=re.M)
    source = re.sub(r"^from \. import", "from hmmlearn.tests import", source, flags=re.M)
    return re.sub(r"^from \.(\w+) import", r"from hmmlearn.tests.\1 import", source, flags=re.M)


def test_hmmlearn_passes_its_own_tests_with_our_classes(tmp_path):
    for name in MODULES:
        text = rewritten(name)
        assert "latently" in text
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(CONFTEST.format(left_out=list(LEFT_OUT)), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
    files = [f"{name}.py" for name in MODULES]
    done = subprocess.run([*command, *files], cwd=tmp_path, capture_output=True, text=True, check=False)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-2000:]
    assert passed is not None
    assert int(passed[1]) == PASSING
