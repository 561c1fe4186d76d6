"""What other detectors say of the rows that are listed."""

from typing import Any

import numpy as np

from latently.detect import KernelDensity, OneClassSVM

_MOST = 2000  # rows that detectors learn from
_ODD = 0.05  # share of rows that a detector may find odd
_TOLD = 3


def second_opinion(values: np.ndarray, listed: np.ndarray) -> dict[str, Any] | None:
    """Ask a kernel density and a one-class SVM about the listed rows; tell when they disagree with the list.

    Parameters
    ----------
    values
        (n, d) numbers; missing ones are replaced by the median of their column.
    listed
        Rows that the report's own model finds out of line.

    Returns
    -------
    dict or None
        "text", "detectors" and "disputed" (rows that every other detector finds usual); None if no row is listed.
    """
    if not len(listed) or values.shape[1] < 1:
        return None
    middle = np.nanmedian(values, axis=0)
    spread = np.nanstd(values, axis=0)
    table = np.where(np.isnan(values), middle, values)[:, spread > 0]
    if not table.shape[1]:
        return None
    scaled = (table - middle[spread > 0]) / spread[spread > 0]
    some = np.random.default_rng(0).permutation(len(scaled))[:_MOST]
    parts = {
        "kernel density": KernelDensity(bandwidth="rule", rtol=1e-3, contamination=_ODD),
        "one-class SVM": OneClassSVM(nu=_ODD),
    }
    odd = np.column_stack([part.fit(scaled[some]).predict(scaled[listed]) == -1 for part in parts.values()])
    disputed, split = listed[~odd.any(axis=1)], listed[odd.any(axis=1) & ~odd.all(axis=1)]
    names = " and ".join(parts)
    text = _text(names, len(listed), disputed, split)
    return {"text": text, "detectors": list(parts), "disputed": disputed.tolist()}


def _text(names: str, n: int, disputed: np.ndarray, split: np.ndarray) -> str:
    if not len(disputed) and not len(split):
        which = "row" if n == 1 else "rows"
        return f"Other detectors ({names}, on the numbers alone) agree: none finds the listed {which} usual."
    said = []
    if len(disputed):
        said.append(f"find {_rows(disputed)} usual")
    if len(split):
        said.append(f"disagree with each other on {_rows(split)}")
    return f"Other detectors ({names}, on the numbers alone) {' and '.join(said)}: look at these rows yourself."


def _rows(rows: np.ndarray) -> str:
    first = ", ".join(str(int(row)) for row in rows[:_TOLD])
    more = f" and {len(rows) - _TOLD} more" if len(rows) > _TOLD else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {first}{more}"
