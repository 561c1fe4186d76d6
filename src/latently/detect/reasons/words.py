"""Reasons in words."""

from typing import Any

import numpy as np

from latently.kernel.base import Array

_SURPRISE = 3.0  # nats, from which a category is named: a chance of one in twenty


def explained_rows(
    scores: Array, detector: Any, columns: list[list[dict[str, Any]]], n_columns: int
) -> list[dict[str, Any]]:
    """One dict for each row, with a sentence."""
    tails = detector._tails.probability(scores)
    rows = []
    for i, (score, tail) in enumerate(zip(scores.tolist(), tails.tolist(), strict=True)):
        decision = score - detector.offset_
        text = _text(decision, tail, columns[i][:n_columns])
        row = {"row": i, "score": score, "decision": decision, "tail_probability": tail}
        rows.append(row | {"text": text, "columns": columns[i]})
    return rows


def _text(decision: float, tail: float, columns: list[dict[str, Any]]) -> str:
    verdict = "an outlier" if decision < 0 else "no outlier"
    telling = [entry for entry in columns if _is_telling(entry)]
    start = f"{verdict}: {100 * tail:.2g} % of usual rows score as low"
    if not telling:
        return f"{start}; no single value is far from what the others predict"
    return f"{start}; " + "; ".join(map(_said, telling))


def _is_telling(entry: dict[str, Any]) -> bool:
    odd = entry["sd"] is None and entry["value"] not in (None, entry["expected"]) and entry["surprise"] > _SURPRISE
    return bool(odd or abs(entry["deviation"]) >= 2.0)


def _said(entry: dict[str, Any]) -> str:
    if entry["sd"] is None:  # a category
        chance = f"1 in {np.exp(min(entry['surprise'], 30.0)):.2g}"
        return f"{entry['column']} is {entry['value']}, where the others predict {entry['expected']} (chance {chance})"
    far = f"{abs(entry['deviation']):.1f} sd too {'high' if entry['deviation'] > 0 else 'low'}"
    return (
        f"{entry['column']} is {entry['value']:.4g}, where the others predict {entry['expected']:.4g} ± "
        f"{entry['sd']:.2g} ({far})"
    )
