"""Pictures: Display classes that keep the numbers they show; matplotlib is loaded when the first is drawn."""

from tacit.plot.posterior import CalibrationDisplay, PosteriorDisplay
from tacit.plot.selection import SelectionDisplay
from tacit.plot.sequence import DurationsDisplay, StatePathDisplay, TransitionGraphDisplay

__all__ = [
    "CalibrationDisplay",
    "DurationsDisplay",
    "PosteriorDisplay",
    "SelectionDisplay",
    "StatePathDisplay",
    "TransitionGraphDisplay",
]
