"""Names of variables and of their values, and what is wrong with a table of probabilities."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latently.infer.factors import Dense, Factor, Floats, Sparse, merge_cells

Variables: TypeAlias = dict[str, tuple[Hashable, ...]]
Event: TypeAlias = Mapping[str, Any]

TOLERANCE = 1e-8  # how far from one a sum of typed-in probabilities may be


def as_variables(variables: Mapping[str, Iterable[Hashable]]) -> Variables:
    """Check variables and their values: at least one value each, none twice."""
    if not isinstance(variables, Mapping):
        raise TypeError(f"variables must map names to their values, got {type(variables).__name__}")
    named = {str(name): tuple(values) for name, values in variables.items()}
    for name, values in named.items():
        if not values:
            raise ValueError(f"variable {name!r} has no values: give at least one")
        if len(set(values)) < len(values):
            twice = next(v for v in values if values.count(v) > 1)
            raise ValueError(f"variable {name!r} has the value {twice!r} twice: values must differ")
    return named


def code_of(variables: Variables, name: str, value: Hashable) -> int:
    """Give the position of a value among those of its variable."""
    values = variables[known(variables, name)]
    try:
        return values.index(value)
    except ValueError:
        shown = ", ".join(map(repr, values[:10])) + (", ..." if len(values) > 10 else "")
        raise ValueError(f"variable {name!r} has no value {value!r}: it has {shown}") from None


def known(variables: Variables, name: str) -> str:
    """Give the name back if there is such a variable."""
    if name not in variables:
        raise ValueError(f"no variable {name!r}: there are {', '.join(map(repr, variables)) or 'none'}")
    return name


def as_names(variables: Variables, names: str | Iterable[str]) -> tuple[str, ...]:
    """Check one name or several, each once."""
    several = (names,) if isinstance(names, str) else tuple(names)
    for name in several:
        known(variables, name)
    if len(set(several)) < len(several):
        raise ValueError(f"a variable is named twice in {several}")
    return several


def as_weights(variables: Variables, table: Any, what: str) -> Factor:
    """Check a table of non-negative numbers, an array or a mapping from cells, one axis per variable."""
    if isinstance(table, Mapping):
        return _from_cells(variables, table, what)
    array = np.asarray(table, dtype=np.float64)
    shape = tuple(len(values) for values in variables.values())
    if array.shape != shape:
        axes = ", ".join(f"{name} ({len(values)})" for name, values in variables.items())
        raise ValueError(f"the {what} have shape {array.shape}, but the variables need {shape}: {axes}")
    bad = np.argwhere(~(np.isfinite(array) & (array >= 0)))
    if len(bad):
        cell, number = cell_name(variables, bad[0]), array[tuple(bad[0])]
        raise ValueError(f"the {what} hold {number:.6g} at {cell}: none may be negative, NaN or inf")
    return Dense(tuple(variables), array)


def _from_cells(variables: Variables, cells: Mapping[Any, float], what: str) -> Factor:
    """Read {(value, value, ...): number}; cells left out are zero."""
    codes = np.zeros((len(cells), len(variables)), dtype=np.intp)
    values = np.zeros(len(cells))
    for i, (cell, number) in enumerate(cells.items()):
        parts = cell if isinstance(cell, tuple) and len(variables) > 1 else (cell,)
        if len(parts) != len(variables):
            raise ValueError(f"cell {cell!r} of the {what} names {len(parts)} values for {list(variables)}")
        codes[i] = [code_of(variables, n, v) for n, v in zip(variables, parts, strict=True)]
        values[i] = number
        if not (np.isfinite(values[i]) and values[i] >= 0):
            raise ValueError(f"the {what} hold {number} at {cell!r}: none may be negative, NaN or inf")
    return compact(tuple(variables), tuple(len(v) for v in variables.values()), codes, values)


def compact(names: tuple[str, ...], shape: tuple[int, ...], codes: Any, values: Floats) -> Factor:
    """Write cells as a table if that is small, else keep the list."""
    if prod(shape) > max(1 << 12, 4 * len(values)):
        return merge_cells(Sparse(names, shape, codes, values))
    table = np.zeros(shape)
    np.add.at(table, tuple(codes.T), values)
    return Dense(names, table)


def cell_name(variables: Variables, codes: Sequence[int]) -> str:
    """Write an assignment of codes as name=value, name=value."""
    named = zip(variables.items(), codes, strict=True)
    return ", ".join(f"{name}={values[int(code)]!r}" for (name, values), code in named)


def describe(event: Event) -> str:
    """Write an event as name=value, name=value."""
    return ", ".join(f"{name}={value!r}" for name, value in event.items())


def check_total(total: float, where: str) -> None:
    """Refuse probabilities that do not sum to one, and say by how much."""
    if abs(total - 1) > TOLERANCE:
        side = "short" if total < 1 else "too much"
        raise ValueError(
            f"the probabilities {where}sum to {total:.10g}, {abs(total - 1):.3g} {side}: "
            "correct them, or use from_counts to have them normalised"
        )


def restricted(variables: Variables, factors: Iterable[Factor], event: Event) -> tuple[dict[str, int], list[Factor]]:
    """Take factors at an event: the codes of the variables it fixes, and what is left of the factors."""
    fixed: dict[str, int] = {}
    among: list[Factor] = []
    for name, value in event.items():
        if isinstance(value, list | set | frozenset):
            mask = np.zeros(len(variables[known(variables, name)]))
            mask[[code_of(variables, name, v) for v in value]] = 1.0
            among.append(Dense((name,), mask))
        else:
            fixed[name] = code_of(variables, name, value)
    return fixed, [f.restrict(fixed) for f in (*factors, *among)]


def pick(values: Sequence[Hashable], codes: NDArray[np.intp]) -> NDArray[Any]:
    """Give the values at codes, as a plain array where all are of one simple type."""
    pool = np.empty(len(values), dtype=object)
    pool[:] = values
    # one type only: [1, "a"] would become strings
    simple = len({type(v) for v in values}) == 1 and isinstance(values[0], bool | int | float | str)
    return (np.array(values) if simple else pool)[codes]
