"""C4.5 on a table with categories and missing values: the tree, its rules, and why it says what it says.

Customers leave early on monthly contracts. Draws tree_c45.png.
"""

import numpy as np
import pandas as pd

from latently.plot import TreeDisplay
from latently.predict import DecisionTreeClassifier


def customers(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of contracts with a tenth of the values missing, and who leaves."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "contract": rng.choice(["monthly", "yearly", "two years"], n),
            "months": rng.integers(1, 60, n).astype(float),
            "calls": rng.poisson(2, n).astype(float),
        }
    )
    risk = 0.1 + 0.5 * (table["contract"] == "monthly") * (table["months"] < 20) + 0.1 * (table["calls"] > 4)
    leaves = np.where(rng.uniform(size=n) < risk, "leaves", "stays")
    table.loc[rng.uniform(size=n) < 0.1, "months"] = np.nan
    table.loc[rng.uniform(size=n) < 0.1, "contract"] = None
    return table, leaves


def main() -> None:
    table, leaves = customers()
    tree = DecisionTreeClassifier.c45().fit(table, leaves)
    print(f"{tree.n_nodes_} nodes, {tree.get_n_leaves()} leaves")
    for rule in tree.rules():
        print(" ", rule)
    print(tree.explain({"contract": "monthly", "months": 6.0, "calls": 1.0}))
    print(tree.predict_proba(pd.DataFrame({"contract": [None], "months": [6.0], "calls": [1.0]})))
    TreeDisplay.from_estimator(tree).figure_.savefig("tree_c45.png", dpi=80, bbox_inches="tight")


if __name__ == "__main__":
    main()
