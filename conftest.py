"""What tests, examples and docstrings share."""

import sys
from typing import Any


def pytest_runtest_teardown(item: Any) -> None:
    """Close the figures of a test or an example: matplotlib warns of those that stay open."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
