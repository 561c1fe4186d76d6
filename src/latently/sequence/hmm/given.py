"""Parameters that a user assigns, and those that a fit finds: kept separately, the first survive `clone`."""

import logging
from collections.abc import Callable
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from latently.sequence.hmm.monitor import ConvergenceMonitor
from latently.sequence.inference.chain import Array

_log = logging.getLogger("latently.sequence")
_SHAPES = ("n_components", "n_mix", "covariance_type", "_covars_", "_n_features")
"""Attributes, besides the parameters, that say what these are of."""
_checked: WeakKeyDictionary[Any, tuple[list[Any], Any]] = WeakKeyDictionary()
"""What models' parameters were when they were checked last, and what was made of them."""


class GivenMixin(BaseEstimator):
    """Attributes of a model: which were given, which are there."""

    init_params: str

    PARAMETERS: ClassVar[dict[str, str]] = {"s": "startprob_", "t": "transmat_"}
    """Letter in `params` and `init_params`, and name, of what can be given and learnt."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.PARAMETERS.values():
            self.__dict__.setdefault("_given", {})[name] = value
        super().__setattr__(name, value)

    def _store(self, **values: Any) -> None:
        """Set parameters from inside: what the user gave stays what the user gave."""
        given = dict(self.__dict__.get("_given", {}))
        for name, value in values.items():
            setattr(self, name, value)
        self.__dict__["_given"] = given

    def _has(self, name: str) -> bool:
        return name in self.__dict__

    def _once_checked(self, make: Callable[[], Any]) -> Any:
        """What `make` makes of the parameters; made once, as long as they stay as they are.

        Arrays are compared by what is in them, for they may be written to; for lists of distributions it is made anew.
        """
        content: list[Any] = []
        for name in (*_SHAPES, *self.PARAMETERS.values()):
            value = self.__dict__.get(name)
            if isinstance(value, np.ndarray):
                content.append((value.shape, value.dtype, value.tobytes()))
            elif value is None or isinstance(value, int | str):
                content.append(value)
            else:
                return make()
        known = _checked.get(self)
        if known is None or known[0] != content:
            known = _checked[self] = content, make()
        return known[1]

    def _given_zeros(self, letter: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Where the user has assigned a probability of zero to start from: it is meant to stay."""
        value = self.__dict__.get("_given", {}).get(self.PARAMETERS[letter])
        if value is None or letter in self.init_params or np.shape(value) != shape:
            return np.zeros(shape, dtype=bool)
        return np.asarray(np.asarray(value) == 0)

    def _starts(self, letter: str) -> bool:
        """Whether a parameter gets a starting value."""
        return letter in self.init_params or not self._has(self.PARAMETERS[letter])

    def _needs_init(self, letter: str) -> bool:
        name = self.PARAMETERS[letter]
        if letter in self.init_params:
            if name in self.__dict__.get("_given", {}):
                _log.warning("%s was assigned, but will be overwritten because init_params contains %r", name, letter)
            return True
        return not self._has(name)

    def _need(self, *names: str) -> None:
        """An error if one of these parameters was neither learnt nor assigned."""
        if not all(self._has(name) for name in names):
            raise NotFittedError(f"this {type(self).__name__} has no parameters yet: call fit, or assign them")

    def __sklearn_is_fitted__(self) -> bool:
        return all(self._has(name) for name in self.PARAMETERS.values())

    def __sklearn_clone__(self) -> Self:
        plain = type(self)(**{k: clone(v, safe=False) for k, v in self.get_params(deep=False).items()})
        for name, value in self.__dict__.get("_given", {}).items():
            setattr(plain, name, np.array(value))
        return plain

    @property
    def trace_(self) -> Array:
        """Objective of each iteration of the last fit (`history_`), by the name that other estimators have for it."""
        if "history_" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} has not been fitted")
        return np.asarray(self.__dict__["history_"])

    @property
    def monitor_(self) -> Any:
        """Objective of each iteration of the last fit; a monitor that is assigned is asked when to stop."""
        if "_own_monitor" in self.__dict__:
            return self.__dict__["_own_monitor"]
        monitor = ConvergenceMonitor(self.tol, self.n_iter, self.verbose)
        for value in self.__dict__.get("history_", ()):
            monitor.report(float(value))
        return monitor

    @monitor_.setter
    def monitor_(self, monitor: Any) -> None:
        self.__dict__["_own_monitor"] = monitor
