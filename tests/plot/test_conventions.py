"""Every display keeps the same conventions: made is drawn, `plot(ax=)` draws again, matplotlib loads late."""

import inspect
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

import latently.plot
from latently.cluster import GaussianMixture
from latently.detect import ModelDetector
from latently.distributions import Bernoulli, Beta
from latently.factor import CCA, JADE, PCA
from latently.infer import Posterior
from latently.learn import select
from latently.plot import (
    AtomsDisplay,
    BiplotDisplay,
    CalibrationDisplay,
    CanonicalPairsDisplay,
    DecisionRegionsDisplay,
    DensityDisplay,
    DurationsDisplay,
    LoadingsDisplay,
    MapDisplay,
    MissingnessDisplay,
    MixtureDisplay,
    OutlierReasonsDisplay,
    OutlierRegionsDisplay,
    OutlierScoresDisplay,
    PartialDependenceDisplay,
    PosteriorDisplay,
    RelevantDimensionDisplay,
    ResponsibilitiesDisplay,
    ScreeDisplay,
    SelectionDisplay,
    SeparabilityDisplay,
    SourcesDisplay,
    StatePathDisplay,
    TransitionGraphDisplay,
    TreeDisplay,
)
from latently.predict import DecisionTreeClassifier

X = load_iris().data
Y = load_iris().target


def tree():
    return DecisionTreeClassifier(max_depth=2).fit(X, Y)


def mixture():
    return GaussianMixture(2, random_state=0).fit(X)


MAKE = {
    AtomsDisplay: lambda ax: AtomsDisplay.from_components(np.eye(4), ax=ax),
    BiplotDisplay: lambda ax: BiplotDisplay.from_estimator(PCA(2).fit(X), X, ax=ax),
    CanonicalPairsDisplay: lambda ax: CanonicalPairsDisplay.from_estimator(
        CCA(1).fit(X[:, :2], X[:, 2:]), X[:, :2], X[:, 2:], ax=ax
    ),
    LoadingsDisplay: lambda ax: LoadingsDisplay.from_estimator(PCA(2).fit(X), ax=ax),
    ScreeDisplay: lambda ax: ScreeDisplay.from_estimator(PCA(2).fit(X), ax=ax),
    CalibrationDisplay: lambda ax: CalibrationDisplay.from_predictions([0, 1, 1], [0.1, 0.4, 0.9], ax=ax),
    DecisionRegionsDisplay: lambda ax: DecisionRegionsDisplay.from_estimator(mixture(), X, n_points=5, ax=ax),
    DensityDisplay: lambda ax: DensityDisplay.from_estimator(mixture(), X, ax=ax),
    DurationsDisplay: lambda ax: DurationsDisplay.from_predictions([2.0, np.inf], ax=ax),
    MapDisplay: lambda ax: MapDisplay.from_predictions(X[:, :2], ax=ax),
    MissingnessDisplay: lambda ax: MissingnessDisplay.from_table(X, ax=ax),
    MixtureDisplay: lambda ax: MixtureDisplay.from_estimator(mixture(), X, ax=ax),
    OutlierReasonsDisplay: lambda ax: OutlierReasonsDisplay.from_estimator(ModelDetector().fit(X), X[:1], ax=ax),
    OutlierRegionsDisplay: lambda ax: OutlierRegionsDisplay.from_estimator(
        ModelDetector().fit(X), X, n_points=5, ax=ax
    ),
    OutlierScoresDisplay: lambda ax: OutlierScoresDisplay.from_estimator(ModelDetector().fit(X), X, ax=ax),
    PartialDependenceDisplay: lambda ax: PartialDependenceDisplay.from_estimator(tree(), X, 2, ax=ax),
    PosteriorDisplay: lambda ax: PosteriorDisplay.from_posterior(Posterior(Beta(2, 2), Bernoulli(), [1, 0]), ax=ax),
    RelevantDimensionDisplay: lambda ax: RelevantDimensionDisplay.from_labels(X @ X.T, Y, ax=ax),
    ResponsibilitiesDisplay: lambda ax: ResponsibilitiesDisplay.from_estimator(mixture(), X, ax=ax),
    SelectionDisplay: lambda ax: SelectionDisplay.from_selection(select([mixture()], X), ax=ax),
    SeparabilityDisplay: lambda ax: SeparabilityDisplay.from_estimator(JADE(), X, n_resamples=2, random_state=0, ax=ax),
    SourcesDisplay: lambda ax: SourcesDisplay.from_estimator(JADE().fit(X), X, ax=ax),
    StatePathDisplay: lambda ax: StatePathDisplay.from_predictions([0.0, 1.0], np.eye(2), [0, 1], ax=ax),
    TransitionGraphDisplay: lambda ax: TransitionGraphDisplay.from_predictions(np.eye(2), ax=ax),
    TreeDisplay: lambda ax: TreeDisplay.from_estimator(tree(), ax=ax),
}


def test_every_display_is_here():
    assert {cls.__name__ for cls in MAKE} == set(latently.plot.__all__)


@pytest.mark.parametrize("cls", MAKE, ids=lambda cls: cls.__name__)
def test_made_is_drawn_and_can_be_drawn_again(cls):
    display = MAKE[cls](None)
    assert display.ax_.figure is display.figure_
    assert display.ax_.has_data() or display.ax_.texts
    figure, ax = plt.subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    figure.canvas.draw()
    assert MAKE[cls](ax).ax_ is ax
    assert list(inspect.signature(cls.plot).parameters) == ["self", "ax"]


def test_matplotlib_is_loaded_late():
    code = "import sys, latently.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
