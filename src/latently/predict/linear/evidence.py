"""The algebra of Bayesian linear regression on second moments: posterior, evidence, and its maximum.

Everything happens in whitened weights u, in which the prior is N(0, I / lam) and the squared design has
eigenvalues s: there the posterior has precision lam + alpha s, coordinate by coordinate.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dgejsv

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
TINY = 1e-200  # keeps a division by nothing finite


@dataclass(frozen=True, eq=False)
class Problem:
    """Least squares as sums: n rows, X'X, X'y and y'y."""

    n: float
    xx: Array
    xy: Array
    yy: float

    def worth(self, n: float) -> "Problem":
        """The same weights from fewer rows: the residuals of rows that count for less say less of the noise."""
        if not n < self.n:
            return self
        values, vectors = eigen(self.xx)
        explained = float(((vectors.T @ self.xy) ** 2 / values).sum())
        return replace(self, n=n, yy=explained + max(self.yy - explained, 0.0) * n / self.n)


@dataclass(frozen=True, eq=False)
class Hyper:
    """Gamma priors on the two precisions: shape and rate of each."""

    alpha_1: float = 0.0
    alpha_2: float = 0.0
    lambda_1: float = 0.0
    lambda_2: float = 0.0


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A problem in the eigenvectors of its design.

    Parameters
    ----------
    problem : the sums it came from
    values : (r,) eigenvalues of X'X that are not zero
    vectors : (d, r) their eigenvectors
    along : (r,) X'y in their coordinates
    """

    problem: Problem
    values: Array
    vectors: Array
    along: Array

    @classmethod
    def of(cls, problem: Problem) -> "Spectrum":
        """Find it to full relative accuracy, whatever the scales of the columns."""
        values, vectors = eigen(problem.xx)
        return cls(problem, values, vectors, vectors.T @ problem.xy)

    def weights(self, alpha: float, lam: float) -> Array:
        """(r,) posterior mean in the coordinates of the eigenvectors."""
        return self.along * alpha / (lam + alpha * self.values)

    def residual(self, weights: Array) -> float:
        """Sum of squares that is left over; never below rounding."""
        rest = self.problem.yy - 2 * weights @ self.along + weights @ (self.values * weights)
        return max(float(rest), EPS**2 * self.problem.yy)


@dataclass(frozen=True, eq=False)
class State:
    """Precisions of noise and weights, and the objective at them."""

    alpha: float
    lam: float
    score: float = -np.inf


def eigen(S: Array) -> tuple[Array, Array]:
    """Eigenvalues that are not zero, and their vectors, of a positive semi-definite matrix.

    Small eigenvalues that come from columns of small scale keep their digits: the matrix is scaled to ones
    on the diagonal first, and a Jacobi method takes the scales in again.

    Examples
    --------
    >>> values, vectors = eigen(np.diag([1e-20, 1.0, 0.0, 1e20]))
    >>> sorted(values.tolist())
    [1e-20, 1.0, 1e+20]
    """
    scale = np.sqrt(np.maximum(np.diagonal(S), 0.0))
    kept = scale > 0
    if not kept.any():
        return np.empty(0), np.empty((len(S), 0))
    inner = S[np.ix_(kept, kept)] / scale[kept] / scale[kept][:, None]
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    solid = values > len(values) * 8 * EPS * values[-1]
    root = scale[kept][:, None] * vectors[:, solid] * np.sqrt(values[solid])
    singular, left, _, work, _, info = dgejsv(root, joba=2, jobu=0, jobv=3)
    if info != 0:
        raise np.linalg.LinAlgError("the eigenvalues of the design did not converge: rescale the columns")
    full = np.zeros((len(S), len(singular)))
    full[kept] = left
    return (singular * work[0] / work[1]) ** 2, full


def whiten(problem: Problem, shape: Array, mean: Array) -> tuple[Problem, Array]:
    """Give the problem in weights whose prior is N(0, I), and the factor (d, d) that leads back."""
    lower = np.linalg.cholesky(shape)
    left = problem.xy - problem.xx @ mean
    rest = problem.yy - 2 * mean @ problem.xy + mean @ problem.xx @ mean
    back = solve_triangular(lower, np.eye(len(lower)), lower=True).T
    inside = back.T @ problem.xx @ back
    return Problem(problem.n, (inside + inside.T) / 2, back.T @ left, max(float(rest), 0.0)), back


def score(spectrum: Spectrum, state: State, hyper: Hyper) -> float:
    """Log evidence of the data at given precisions, with the log hyperpriors, up to a constant."""
    alpha, lam, n = state.alpha, state.lam, spectrum.problem.n
    w = spectrum.weights(alpha, lam)
    fit = alpha * spectrum.residual(w) + lam * float(w @ w)
    spread = float(np.log1p(alpha * spectrum.values / lam).sum())
    evidence = 0.5 * (n * np.log(alpha) - n * np.log(2 * np.pi) - fit - spread)
    prior = hyper.alpha_1 * np.log(alpha) - hyper.alpha_2 * alpha
    return float(evidence + prior + hyper.lambda_1 * np.log(lam) - hyper.lambda_2 * lam)


def _fixed_point(spectrum: Spectrum, state: State, hyper: Hyper, learn: tuple[bool, bool]) -> State:
    """One step by the number of well-determined weights: fast, though it may overshoot."""
    w = spectrum.weights(state.alpha, state.lam)
    pull = state.alpha * spectrum.values
    gamma = float((pull / (state.lam + pull)).sum())
    noise = (spectrum.problem.n - gamma, spectrum.residual(w))
    return _step(spectrum, state, hyper, learn, noise, (gamma, float(w @ w)))


def _expectation(spectrum: Spectrum, state: State, hyper: Hyper, learn: tuple[bool, bool]) -> State:
    """One step of expectation and maximisation: slow, but it never falls."""
    w = spectrum.weights(state.alpha, state.lam)
    spread = 1 / (state.lam + state.alpha * spectrum.values)
    d = len(spectrum.problem.xy)
    noise = (spectrum.problem.n, spectrum.residual(w) + float((spectrum.values * spread).sum()))
    size = float(w @ w) + float(spread.sum()) + (d - len(w)) / state.lam
    return _step(spectrum, state, hyper, learn, noise, (float(d), size))


def _step(
    spectrum: Spectrum,
    state: State,
    hyper: Hyper,
    learn: tuple[bool, bool],
    noise: tuple[float, float],
    weights: tuple[float, float],
) -> State:
    """Precisions from a count and a sum of squares each, for noise and weights."""
    alpha = (noise[0] + 2 * hyper.alpha_1) / (noise[1] + 2 * hyper.alpha_2 + TINY)
    lam = (weights[0] + 2 * hyper.lambda_1) / (weights[1] + 2 * hyper.lambda_2 + TINY)
    alpha, lam = (float(np.clip(v, 1e-100, 1e100)) for v in (alpha, lam))
    new = State(alpha if learn[0] else state.alpha, lam if learn[1] else state.lam)
    return replace(new, score=score(spectrum, new, hyper))


def maximise(
    spectrum: Spectrum, start: State, hyper: Hyper, learn: tuple[bool, bool], tol: float, max_iter: int
) -> tuple[State, list[float], bool]:
    """Climb to the precisions of highest evidence.

    Parameters
    ----------
    spectrum
        The problem.
    start
        Where to begin.
    hyper
        Gamma priors on the precisions.
    learn
        Whether the noise precision and the weight precision are to be found, or stay.
    tol
        Converged when both change by less than this share.
    max_iter
        Steps at most.

    Returns
    -------
    tuple
        The best state, the objective after each step (it never falls), and whether it converged.
    """
    state = replace(start, score=score(spectrum, start, hyper))
    trace, path = [state.score], [state]
    for _ in range(max_iter if any(learn) else 0):
        new = _fixed_point(spectrum, state, hyper, learn)
        if not new.score >= state.score - 1e-12 * abs(state.score):
            new = _expectation(spectrum, state, hyper, learn)
        if _distance(new, state) < tol:
            return new, [*trace, max(new.score, trace[-1])], True
        path.append(new)
        if len(path) == 3:
            new = _ahead(spectrum, path, hyper)
            path = [new]
        state = new
        trace.append(max(new.score, trace[-1]))
    return state, trace, not any(learn)


def _distance(a: State, b: State) -> float:
    """Largest relative change of a precision."""
    return float(max(abs(np.log(a.alpha / b.alpha)), abs(np.log(a.lam / b.lam))))


def _ahead(spectrum: Spectrum, path: list[State], hyper: Hyper) -> State:
    """Where the last two steps lead to if they go on shrinking at their rate; the last of them if that is no better.

    Where the data hardly say anything of lambda, steps shrink by a few percent each, or go to and fro.
    """
    logs = np.log([[state.alpha, state.lam] for state in path])
    step, bend = logs[1] - logs[0], logs[2] - 2 * logs[1] + logs[0]
    size = float(np.sqrt((step @ step) / (bend @ bend + TINY)))
    alpha, lam = np.exp(np.clip(logs[0] + 2 * size * step + size**2 * bend, -230.0, 230.0))
    far = State(float(alpha), float(lam))
    far = replace(far, score=score(spectrum, far, hyper))
    return far if far.score > path[-1].score else path[-1]
