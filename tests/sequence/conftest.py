"""Many tests here stop a fit early, or fit a handful of rows: that it tells so is tested where that is the subject."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/sequence" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"))
