"""Pictures: Display classes that keep the numbers they show; matplotlib is loaded when the first is drawn."""

from latently.plot.density import DensityDisplay
from latently.plot.factors import BiplotDisplay, CanonicalPairsDisplay, LoadingsDisplay, ScreeDisplay
from latently.plot.map import MapDisplay
from latently.plot.missing import MissingnessDisplay
from latently.plot.mixture import MixtureDisplay
from latently.plot.posterior import CalibrationDisplay, PosteriorDisplay
from latently.plot.regions import DecisionRegionsDisplay
from latently.plot.selection import SelectionDisplay
from latently.plot.sequence import DurationsDisplay, StatePathDisplay, TransitionGraphDisplay
from latently.plot.shares import ResponsibilitiesDisplay
from latently.plot.sources import AtomsDisplay, SeparabilityDisplay, SourcesDisplay
from latently.plot.tree import PartialDependenceDisplay, TreeDisplay

__all__ = [
    "AtomsDisplay",
    "BiplotDisplay",
    "CalibrationDisplay",
    "CanonicalPairsDisplay",
    "DecisionRegionsDisplay",
    "DensityDisplay",
    "DurationsDisplay",
    "LoadingsDisplay",
    "MapDisplay",
    "MissingnessDisplay",
    "MixtureDisplay",
    "PartialDependenceDisplay",
    "PosteriorDisplay",
    "ResponsibilitiesDisplay",
    "ScreeDisplay",
    "SelectionDisplay",
    "SeparabilityDisplay",
    "SourcesDisplay",
    "StatePathDisplay",
    "TransitionGraphDisplay",
    "TreeDisplay",
]
