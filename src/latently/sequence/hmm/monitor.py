"""A record of the iterations of a fit, in the form that hmmlearn's users know."""

from collections import deque


class ConvergenceMonitor:
    """Log-likelihood of each iteration; may be subclassed and assigned to `monitor_` before a fit.

    Parameters
    ----------
    tol
        Converged when the log-likelihood rises by less.
    n_iter
        Iterations at most; running out of them is not convergence.
    verbose
        Whether the fit reports its progress.

    Examples
    --------
    >>> monitor = ConvergenceMonitor(tol=0.1, n_iter=2, verbose=False)
    >>> for log_prob in (-5.0, -3.0):
    ...     monitor.report(log_prob)
    >>> monitor.iter, monitor.converged
    (2, False)
    """

    def __init__(self, tol: float, n_iter: int, verbose: bool) -> None:
        self.tol, self.n_iter, self.verbose = tol, n_iter, verbose
        self.history: deque[float] = deque()
        self.iter = 0

    def _reset(self) -> None:
        self.iter = 0
        self.history.clear()

    def report(self, log_prob: float) -> None:
        """Take note of the log-likelihood of an iteration."""
        self.history.append(log_prob)
        self.iter += 1

    @property
    def converged(self) -> bool:
        """Whether the last rise was below `tol`."""
        return len(self.history) >= 2 and self.history[-1] - self.history[-2] < self.tol
