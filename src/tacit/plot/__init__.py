"""Pictures: Display classes that keep the numbers they show; matplotlib is loaded when the first is drawn."""

from tacit.plot.density import DensityDisplay
from tacit.plot.missing import MissingnessDisplay
from tacit.plot.mixture import MixtureDisplay
from tacit.plot.posterior import CalibrationDisplay, PosteriorDisplay
from tacit.plot.regions import DecisionRegionsDisplay
from tacit.plot.selection import SelectionDisplay
from tacit.plot.sequence import DurationsDisplay, StatePathDisplay, TransitionGraphDisplay
from tacit.plot.shares import ResponsibilitiesDisplay

__all__ = [
    "CalibrationDisplay",
    "DecisionRegionsDisplay",
    "DensityDisplay",
    "DurationsDisplay",
    "MissingnessDisplay",
    "MixtureDisplay",
    "PosteriorDisplay",
    "ResponsibilitiesDisplay",
    "SelectionDisplay",
    "StatePathDisplay",
    "TransitionGraphDisplay",
]
