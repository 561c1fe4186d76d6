"""The example table: wines, from the data that scikit-learn brings along."""

from typing import Any

import numpy as np


def example_table() -> tuple[dict[str, list[Any]], str, str]:
    """Give a table to try things on, its name, and where it is from.

    Returns
    -------
    tuple
        A dict of lists, a name and a description.

    Examples
    --------
    >>> table, name, description = example_table()
    >>> name, len(table), len(table["alcohol"])
    ('wines', 15, 178)
    """
    from sklearn.datasets import load_wine

    wine = load_wine()
    rng = np.random.default_rng(7)
    order = rng.permutation(len(wine.data))
    X, grower = wine.data[order], np.array(["A", "B", "C"])[wine.target[order]]
    table: dict[str, list[Any]] = {"grower": grower.tolist()}
    table |= {_plain(name): _with_holes(X[:, j], rng) for j, name in enumerate(wine.feature_names)}
    hue = X[:, wine.feature_names.index("color_intensity")]
    table["color"] = np.array(["pale", "medium", "deep"])[np.searchsorted([3.5, 6.0], hue)].tolist()
    # a device that does not read the strongest colors, and one that writes -999 for a failure
    table["color_intensity"] = [None if v > 8 and rng.random() < 0.6 else float(v) for v in hue]
    ash = [-999.0 if rng.random() < 0.03 else float(v) for v in X[:, wine.feature_names.index("ash")]]
    return table | {"ash": ash}, "wines", _DESCRIPTION


_DESCRIPTION = (
    "Chemical analyses of 178 wines of three growers: the wine recognition data of the UCI Machine Learning Repository (M. "
    "Forina and others, CC BY 4.0), as scikit-learn brings them along. Changed for the example: rows shuffled; 4 % of the "
    "numbers left out at random; high color intensities left out more often; some values of ash replaced by -999; a column "
    "of color classes added."
)


def _plain(name: str) -> str:
    return str(name).replace("od280/od315_of_diluted_wines", "dilution")


def _with_holes(x: Any, rng: np.random.Generator) -> list[float | None]:
    gone = rng.random(len(x)) < 0.04
    return [None if hole else float(v) for v, hole in zip(x, gone, strict=True)]
