"""Pictures: Display classes that keep the numbers they show; matplotlib is loaded when the first is drawn."""

from latently.plot.components.biplot import BiplotDisplay
from latently.plot.components.canonical_pairs import CanonicalPairsDisplay
from latently.plot.components.loadings import LoadingsDisplay
from latently.plot.components.scree import ScreeDisplay
from latently.plot.components.sources import AtomsDisplay, SeparabilityDisplay, SourcesDisplay
from latently.plot.density import DensityDisplay
from latently.plot.map import MapDisplay
from latently.plot.missing import MissingnessDisplay
from latently.plot.mixture import MixtureDisplay
from latently.plot.outliers.reasons import OutlierReasonsDisplay
from latently.plot.outliers.regions import OutlierRegionsDisplay
from latently.plot.outliers.scores import OutlierScoresDisplay
from latently.plot.partial_dependence import PartialDependenceDisplay
from latently.plot.posterior import CalibrationDisplay, PosteriorDisplay
from latently.plot.regions import DecisionRegionsDisplay
from latently.plot.relevance import RelevantDimensionDisplay
from latently.plot.selection import SelectionDisplay
from latently.plot.sequence import DurationsDisplay, StatePathDisplay, TransitionGraphDisplay
from latently.plot.shares import ResponsibilitiesDisplay
from latently.plot.tree import TreeDisplay

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
    "OutlierReasonsDisplay",
    "OutlierRegionsDisplay",
    "OutlierScoresDisplay",
    "PartialDependenceDisplay",
    "PosteriorDisplay",
    "RelevantDimensionDisplay",
    "ResponsibilitiesDisplay",
    "ScreeDisplay",
    "SelectionDisplay",
    "SeparabilityDisplay",
    "SourcesDisplay",
    "StatePathDisplay",
    "TransitionGraphDisplay",
    "TreeDisplay",
]
