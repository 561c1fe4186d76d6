"""What a search goes through: estimators, or an estimator with a grid of settings, one by one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Settings that say where a fit starts or what it prints, not what is fitted.
_NOT_THE_MODEL = frozenset(
    {"n_components", "random_state", "weights_init", "means_init", "precisions_init", "warm_start", "verbose"}
)


@dataclass(frozen=True)
class Candidate:
    """An estimator to try, and how it differs from the others."""

    model: Any
    name: str
    settings: dict[str, Any]

    @property
    def family(self) -> str:
        """Name and settings without the number of components, in which alone members of a family differ."""
        rest = [f"{key}={value}" for key, value in self.settings.items() if key not in _NOT_THE_MODEL]
        return ", ".join([self.name, *rest])

    @property
    def n_components(self) -> int | None:
        """Number of components; None if the estimator has no such setting."""
        k: int | None = self.model.get_params(deep=False).get("n_components")
        return k


def candidates(models: Any, random_state: Any = None) -> list[Candidate]:
    """Every estimator to try, cloned.

    Parameters
    ----------
    models
        A list of estimators, a dict of them by name, a pair (estimator, grid of settings), or a list with
        such pairs in it.
    random_state
        Goes to every estimator that has none of its own.

    Examples
    --------
    >>> from sklearn.mixture import GaussianMixture
    >>> grid = {"n_components": [1, 2], "covariance_type": ["full", "diag"]}
    >>> [candidate.family for candidate in candidates((GaussianMixture(), grid))][:2]
    ['GaussianMixture, covariance_type=full', 'GaussianMixture, covariance_type=full']
    """
    named = [(name, _prepared(model, random_state)) for name, model in _listed(models)]
    if not named:
        raise ValueError("there is no model to select from: give at least one estimator, or a grid")
    return [
        Candidate(model, name, settings)
        for (name, model), settings in zip(named, _settings([model for _, model in named]), strict=True)
    ]


def _listed(models: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(models, Mapping):
        for name, entry in models.items():
            yield from ((str(name), model) for _, model in _expanded(entry))
    elif _is_pair(models) or hasattr(models, "fit"):
        yield from _expanded(models)
    elif isinstance(models, Sequence):
        for entry in models:
            yield from _expanded(entry)
    else:
        raise TypeError(
            "models must be a list of estimators, a dict of them, or a pair (estimator, grid of settings), "
            f"got {type(models).__name__}"
        )


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, Sequence) and len(entry) == 2 and hasattr(entry[0], "fit") and not hasattr(entry[1], "fit")


def _expanded(entry: Any) -> Iterator[tuple[str, Any]]:
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid

    model, grid = entry if _is_pair(entry) else (entry, {})
    if not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise TypeError(f"models must be estimators with fit and get_params, got {type(model).__name__}")
    if not isinstance(grid, Mapping | Sequence) or isinstance(grid, str):
        raise TypeError(f"a grid is a dict from settings to lists of values, got {type(grid).__name__}")
    lists = [grid] if isinstance(grid, Mapping) else list(grid)
    ranges = [{key: _values(key, values) for key, values in part.items()} for part in lists]
    for settings in ParameterGrid(ranges):
        yield type(model).__name__, clone(model).set_params(**settings)


def _values(key: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise TypeError(f"the grid's {key!r} must be a list of values, got {values!r}")
    return list(values)


def _prepared(model: Any, random_state: Any) -> Any:
    from sklearn.base import clone

    fresh = clone(model)
    params = fresh.get_params(deep=False)
    if random_state is not None and "random_state" in params and params["random_state"] is None:
        fresh.set_params(random_state=random_state)
    return fresh


def _settings(models: list[Any]) -> list[dict[str, Any]]:
    """Of each model: its number of components and the settings in which models of its class differ."""
    params = [model.get_params(deep=False) for model in models]
    classes = {type(model) for model in models}
    varied = {
        kind: _varied([p for p, model in zip(params, models, strict=True) if type(model) is kind]) for kind in classes
    }
    return [
        {key: value for key, value in p.items() if key == "n_components" or key in varied[type(model)]}
        for p, model in zip(params, models, strict=True)
    ]


def _varied(params: list[dict[str, Any]]) -> set[str]:
    return {key for key in params[0] if len({repr(p[key]) for p in params}) > 1}


def families(listed: Sequence[Candidate]) -> list[list[int]]:
    """Places of the candidates of each family, smallest number of components first."""
    groups: dict[str, list[int]] = {}
    for place, candidate in enumerate(listed):
        groups.setdefault(candidate.family, []).append(place)
    return [sorted(group, key=lambda i: listed[i].n_components or 0) for group in groups.values()]
