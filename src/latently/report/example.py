"""The example table: irises, from the data that scikit-learn brings along."""

from typing import Any, Final

import numpy as np

_DESCRIPTION: Final = (
    "150 irises of three species, measured in centimetres: the data of E. Anderson and R. A. Fisher (1936), from the "
    "UCI Machine "
    "Learning Repository (CC BY 4.0), as scikit-learn brings them along. Changed for the example: rows shuffled and "
    "numbered; a "
    "column of sizes added; 4 % of the widths left out at random; sepal lengths of large flowers left out more often; "
    "four sepal widths replaced by -999; in one petal length the decimal point misplaced."
)


def example_table() -> tuple[dict[str, list[Any]], str, str]:
    """Give a table to try things on, its name, and where it is from.

    Returns
    -------
    tuple
        A dict of lists, a name and a description.

    Examples
    --------
    >>> table, name, description = example_table()
    >>> name, list(table)
    ('irises', ['flower', 'species', 'size', 'sepal_length', 'sepal_width', 'petal_length', 'petal_width'])
    """
    from sklearn.datasets import load_iris

    iris = load_iris()
    rng = np.random.default_rng(7)
    order = rng.permutation(len(iris.data))
    X = iris.data[order]
    sepal, width, petal, petal_width = (X[:, j].copy() for j in range(4))
    size = np.array(["small", "medium", "large"])[np.searchsorted([2.5, 5.0], petal)]
    sepal[rng.random(150) < np.where(size == "large", 0.4, 0.0)] = np.nan
    for x in (width, petal_width):
        x[rng.random(150) < 0.04] = np.nan
    width[rng.choice(150, 4, replace=False)] = -999.0
    petal[int(np.argmin(np.abs(petal - 4.5)))] *= 10
    table: dict[str, list[Any]] = {"flower": [f"F{i:03d}" for i in range(1, 151)]}
    table |= {"species": iris.target_names[iris.target[order]].tolist(), "size": size.tolist()}
    numbers = {"sepal_length": sepal, "sepal_width": width, "petal_length": petal, "petal_width": petal_width}
    return table | {name: _listed(x) for name, x in numbers.items()}, "irises", _DESCRIPTION


def _listed(x: np.ndarray) -> list[float | None]:
    return [None if np.isnan(v) else round(float(v), 2) for v in x]
