"""Colours of rows that belong and of outliers."""

from typing import Any, Final

from latently.plot.axes import colours

USUAL: Final = 0
OUTLIER: Final = 3
"""Places of blue and red among the colours of groups."""


def shade(place: int) -> Any:
    """The colour of usual rows, or of outliers."""
    return colours(10)[place]
