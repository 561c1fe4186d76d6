"""Pictures of posteriors, and of whether probabilities come true."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.decide.calibration import ReliabilityCurve, reliability_curve
from latently.plot.axes import Display


@dataclass(eq=False)
class PosteriorDisplay(Display):
    """Prior, likelihood and posterior of one parameter, with its summaries.

    Use `from_posterior` to make one.

    Attributes
    ----------
    name : str
        The parameter.
    x, prior, likelihood, posterior : ndarray
        Places and densities; the likelihood is scaled to the height of the posterior. Prior and likelihood are
        None if there are further parameters: they are then not functions of this one alone.
    map, mean : float
        Highest point and mean; a density that is infinite at an end has no highest point: None.
    half_maximum, interval : tuple
        Ends of the full width at half maximum, None if there is no maximum, and of the credible interval.

    Examples
    --------
    >>> from latently.distributions import Bernoulli, Beta
    >>> from latently.infer import Posterior
    >>> coin = Posterior(Beta(2, 2), Bernoulli(), [1, 1, 0, 1])
    >>> display = PosteriorDisplay.from_posterior(coin)
    >>> display.name, round(display.map, 3)
    ('probabilities', 0.667)
    """

    name: str
    x: NDArray[Any]
    prior: NDArray[Any] | None
    likelihood: NDArray[Any] | None
    posterior: NDArray[Any]
    map: float | None
    mean: float
    half_maximum: tuple[float, float] | None
    interval: tuple[float, float]
    level: float = 0.95

    @classmethod
    def from_posterior(
        cls, posterior: Any, name: str | None = None, *, level: float = 0.95, n_points: int = 400, ax: Any = None
    ) -> Self:
        """Draw one parameter.

        Parameters
        ----------
        posterior
            A `latently.infer.Posterior`.
        name
            The parameter; the first if not given.
        level
            Probability of the credible interval.
        n_points
            Number of places.
        ax
            Axes to draw on; new ones if None.
        """
        chosen = posterior.names[0] if name is None else name
        marginal = posterior.marginal(chosen)
        low, high = marginal.ppf(np.array([1e-4, 1 - 1e-4]))
        room = 0.15 * (high - low)
        ends = marginal.support()
        x = np.linspace(max(low - room, ends[0]), min(high + room, ends[1]), n_points)
        x = x[np.isfinite(marginal.pdf(x))]  # it may be infinite at an end
        density = np.asarray(marginal.pdf(x))
        before = likelihood = None
        if len(posterior.names) == 1:
            before = np.exp(posterior.log_prior(x))
            logs = posterior.log_likelihood(x)
            likelihood = np.exp(logs - np.nanmax(np.where(np.isfinite(logs), logs, -np.inf)))
            likelihood = np.where(np.isfinite(likelihood), likelihood, 0.0) * np.nanmax(density)
        values = posterior.summary(level)[chosen]
        summaries = (values["map"], values["mean"], values["half_maximum"], values["interval"])
        return cls(chosen, x, before, likelihood, density, *summaries, level).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax
            Axes to draw on; new ones if not given.
        """
        self._on(ax)
        # under a flat prior the likelihood lies on the posterior: dots over a line, both to be seen
        for values, style, label, order in (
            (self.prior, "--", "prior", 2),
            (self.likelihood, ":", "likelihood (scaled)", 3),
            (self.posterior, "-", "posterior", 2),
        ):
            if values is not None:
                self.ax_.plot(self.x, values, style, label=label, zorder=order, lw=2)
        inside = (self.x >= self.interval[0]) & (self.x <= self.interval[1])
        shade = {"alpha": 0.2, "label": f"{self.level:.0%} interval"}
        self.ax_.fill_between(self.x[inside], self.posterior[inside], **shade)
        if self.map is not None and self.half_maximum is not None:
            half = float(np.interp(self.map, self.x, self.posterior)) / 2
            self.ax_.hlines(half, *self.half_maximum, color="black", linewidth=1, label="full width at half maximum")
            self.ax_.axvline(self.map, color="black", linewidth=0.8, label=f"MAP {self.map:.3g}")
        self.ax_.set(xlabel=self.name, ylabel="density", ylim=(0, None))
        self.ax_.legend()
        return self


@dataclass(eq=False)
class CalibrationDisplay(Display):
    """How often events of a predicted probability happened, with intervals.

    Use `from_estimator` or `from_predictions` to make one.

    Examples
    --------
    >>> display = CalibrationDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9], n_bins=2)
    >>> display.curve.error
    0.05
    """

    curve: ReliabilityCurve
    label: str = ""

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, proba: ArrayLike, *, label: str = "", ax: Any = None, **options: Any
    ) -> Self:
        """Draw the curve of labels and probabilities; options as for `latently.decide.reliability_curve`."""
        return cls(reliability_curve(y_true, proba, **options), label).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, label: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the curve of a fitted classifier on data it was not fitted to."""
        name = type(estimator).__name__ if label is None else label
        chances = estimator.predict_proba(X)
        return cls.from_predictions(y, chances, label=name, classes=list(estimator.classes_), ax=ax, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax
            Axes to draw on; new ones if not given.
        """
        self._on(ax)
        c = self.curve
        self.ax_.plot([0, 1], [0, 1], ":", color="gray")
        bars = np.clip([c.observed - c.low, c.high - c.observed], 0, None)
        name = f"{self.label} (calibration error {c.error:.3f})".strip()
        self.ax_.errorbar(c.predicted, c.observed, yerr=bars, marker="o", capsize=2, label=name)
        self.ax_.set(xlabel="predicted probability", ylabel="observed fraction", xlim=(0, 1), ylim=(0, 1))
        self.ax_.legend()
        return self
