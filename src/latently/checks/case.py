"""What a law works on: an estimator, data that suit it, and short ways to fit and to ask."""

import dataclasses
import warnings
from collections.abc import Iterator, Mapping
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.checks.rows import reads_sequences

Array = NDArray[Any]
VERBS = ("predict", "predict_proba", "score_samples", "transform")
ROWS = 60
# Attributes that describe the path of a fit, not its result.
_HISTORY = ("n_iter_", "trace_", "lower_bounds_", "labels_")


class Case:
    """An estimator under examination.

    Parameters
    ----------
    estimator
        Not necessarily fitted; it is cloned and never touched. If it has a method
        `_check_data(n_rows, rng)`, that gives the table; otherwise its scikit-learn tags decide.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> case = Case(GaussianNB())
    >>> case.X.shape, case.has("predict_proba"), case.takes("sample_weight")
    ((60, 2), True, True)
    """

    def __init__(self, estimator: Any) -> None:
        from sklearn.utils import get_tags

        self.estimator = estimator
        self.tags = get_tags(estimator)
        self.name = type(estimator).__name__
        self.X, self.y = self.table()

    # the data

    def table(self, n_rows: int = ROWS, seed: int = 0) -> tuple[Array, Array | None]:
        """Two groups of rows, and a target if the estimator needs one."""
        rng = np.random.default_rng(seed)
        group = np.arange(n_rows) % 2
        X = self._rows(group, rng)
        if self.tags.estimator_type == "classifier":
            return X, group
        if self.tags.estimator_type == "regressor":
            return X, X.sum(axis=1) + rng.normal(size=n_rows)
        return X, None

    def _rows(self, group: Array, rng: np.random.Generator) -> Array:
        if hasattr(self.estimator, "_check_data"):
            return np.asarray(self.estimator._check_data(len(group), rng))
        if self.discrete:
            return rng.poisson(1 + 2 * group[:, None], size=(len(group), 2)).clip(max=3).astype(float)
        return rng.normal(size=(len(group), 2)) + 6.0 * group[:, None]

    @property
    def discrete(self) -> bool:
        """Whether the estimator asks for codes or counts."""
        return bool(self.tags.input_tags.categorical or self.tags.input_tags.positive_only)

    @property
    def continuous(self) -> bool:
        """Whether any real number is as good as any other, so that columns can be shifted and bent."""
        return not self.discrete and not hasattr(self.estimator, "_check_data")

    # what the estimator can do

    def has(self, *verbs: str) -> bool:
        """Whether it has all of these methods."""
        return all(hasattr(self.estimator, verb) and _of_rows_alone(self.estimator, verb) for verb in verbs)

    def takes(self, name: str, method: str = "fit") -> bool:
        """Whether a method has a parameter of this name."""
        return self.has(method) and name in signature(getattr(self.estimator, method)).parameters

    @property
    def params(self) -> dict[str, Any]:
        """Constructor parameters."""
        return dict(self.estimator.get_params(deep=False))

    @property
    def iterations(self) -> str | None:
        """Name of the parameter that says how many iterations a fit may take: `max_iter`, or hmmlearn's `n_iter`."""
        return next((name for name in ("max_iter", "n_iter") if name in self.params), None)

    @property
    def by_rows(self) -> bool:
        """Whether rows stand alone (they do not in models of sequences)."""
        return not reads_sequences(self.estimator)

    # fitting and asking

    def new(self, **params: Any) -> Any:
        """Make a clone with a fixed seed and some parameters set, where it has them (`max_iter` by either name)."""
        from sklearn.base import clone

        known = self.params
        chosen = {"random_state": 0} | params
        if self.iterations is not None and "max_iter" in chosen:
            chosen[self.iterations] = chosen.pop("max_iter")
        return clone(self.estimator).set_params(**{k: v for k, v in chosen.items() if k in known})

    def fitted(self, X: Any = None, y: Any = None, model: Any = None, **more: Any) -> Any:
        """Fit a model (a new clone if None) to a table (the usual one if None), converged or not."""
        if X is None:
            X, y = self.X, self.y
        return quietly((model or self.new()).fit, X, y, **more)

    def add(self, model: Any, X: Any, y: Any, verb: str = "partial_fit") -> Any:
        """Give a model more rows (or take them away, by the verb "forget")."""
        classes = {"classes": np.unique(np.asarray(self.y))} if self.takes("classes", verb) else {}
        target = {} if y is None else {"y": y}
        return quietly(getattr(model, verb), X, **target, **classes)

    def answers(self, model: Any, X: Any = None) -> dict[str, Array]:
        """Ask a fitted model about rows, by every verb it has."""
        X = self.X if X is None else X
        said = {verb: getattr(model, verb)(X) for verb in VERBS if hasattr(model, verb) and _of_rows_alone(model, verb)}
        found: dict[str, Array] = {}
        for verb, answer in said.items():
            parts = answer if isinstance(answer, tuple) else (answer,)
            found |= {verb + "'" * i: np.asarray(part) for i, part in enumerate(parts)}
        return found

    @property
    def can_start(self) -> bool:
        """Whether two fits can be made to start from one point."""
        params = self.params
        return "random_state" not in params or any(map(_is_start, params))

    def starter(self) -> Any:
        """Make an unfitted clone that starts from given parameters: those after one iteration on all rows."""
        model = self.fitted(model=self.new(max_iter=1))
        start = {name: value for name in self.params if (value := _start_of(model, name)) is not None}
        return self.new(**start, n_init=1, max_iter=5)


def _of_rows_alone(model: Any, verb: str) -> bool:
    """Whether `score_samples` needs rows alone, and not also a target whose density given the rows it is."""
    if verb != "score_samples":
        return True
    target = signature(model.score_samples).parameters.get("y")
    return target is None or target.default is not Parameter.empty


def _is_start(name: str) -> bool:
    return name == "init" or (name.endswith("_init") and name != "n_init")


def _start_of(model: Any, name: str) -> Any:
    if name == "init":
        return getattr(model, "cluster_centers_", None)
    return getattr(model, f"{name.removesuffix('_init')}_", None) if _is_start(name) else None


def quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function, without warnings that a fit did not converge: laws may stop one early."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*args, **kwargs)


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, Array]]:
    """Walk through every number inside a value: arrays, records, containers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from numbers(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from numbers(item, f"{path}[{i}]")
    elif isinstance(value, np.ndarray | np.number | float | int) and np.asarray(value).dtype.kind in "fc":
        yield path, np.asarray(value)


def fitted_numbers(model: Any) -> dict[str, Array]:
    """Every number in the fitted attributes of a model, by path."""
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {path.removeprefix("."): array for path, array in numbers(fitted)}


def learnt(model: Any, n_rows: int) -> dict[str, Array]:
    """Give the arrays among a model's attributes, without those that have an entry for each row.

    Records are left out: statistics can be the same in many ways (about other centres, say).
    """
    return {
        path: array
        for path, array in fitted_numbers(model).items()
        if path.isidentifier() and array.ndim and len(array) != n_rows and path not in _HISTORY
    }


def assert_close(left: dict[str, Array], right: dict[str, Array], what: str, rtol: float = 1e-6) -> None:
    """Fail unless two sets of arrays are the same up to rounding; those of other shapes are left out.

    The tables of a case are of the order of one, so what is below 1e-9 is rounding.
    """
    for name, a in left.items():
        b = right.get(name)
        if b is None or a.shape != b.shape:
            continue
        if a.dtype.kind not in "fc":
            assert np.array_equal(a, b), f"{name} differs: {what}"
            continue
        finite = a[np.isfinite(a)]
        scale = float(np.abs(finite).max(initial=0.0))
        same = np.isclose(a, b, rtol=rtol, atol=rtol * scale + 1e-9, equal_nan=True)
        assert same.all(), f"{name} differs: {what}; {a[~same].flat[0]!r} against {b[~same].flat[0]!r}"


def assert_same_bits(left: dict[str, Array], right: dict[str, Array], what: str) -> None:
    """Fail unless two sets of arrays are the same to the last bit."""
    assert left.keys() == right.keys(), f"{sorted(left)} against {sorted(right)}: {what}"
    for name, a in left.items():
        b = right[name]
        same = (a.dtype, a.shape, a.tolist()) == (b.dtype, b.shape, b.tolist()) or a.tobytes() == b.tobytes()
        assert same, f"{name} is not the same to the last bit: {what}"
