"""What a model of any kind says about the rows of a table, as columns."""

from typing import Any

import numpy as np

Columns = dict[str, list[Any]]

# Rows that reasons compare an unusual row with.
_REFERENCE = 2000


def answers(model: Any, table: Any, *, rewards: Any, reasons: int, level: float) -> Columns:
    """Ask a model all that it knows about each row.

    Parameters
    ----------
    model
        A fitted estimator.
    table
        The columns that it was fitted to.
    rewards
        {state: {action: reward}} for decisions, or None.
    reasons
        For how many of the most surprising rows to give reasons.
    level
        Probability of intervals.
    """
    from latently.data.tables import frames

    n = frames.row_count(table)
    found: Columns = {"row": list(range(n))}
    found |= _detected(model, table, reasons)
    found |= _memberships(model, table)
    found |= _number(model, table, level)
    found |= _surprise(model, table, reasons)
    found |= _imputed(model, table, level)
    if rewards is not None:
        found |= _decided(model, table, rewards)
    if len(found) == 1:
        raise ValueError(f"{type(model).__name__} gives no answers about rows: apply a mixture, a classifier, ...")
    return found


def _kind(model: Any) -> str:
    from sklearn.base import is_classifier

    if is_classifier(model):
        return "prediction"
    return "state" if type(model).__module__.startswith("latently.sequence") else "cluster"


def _is_detector(model: Any) -> bool:
    from sklearn.base import is_outlier_detector

    return is_outlier_detector(model) and hasattr(model, "tail_probability")


def _detected(model: Any, table: Any, reasons: int) -> Columns:
    """Whether each row is an outlier, its score, how many usual rows score as low, and why, for the lowest."""
    if not _is_detector(model):
        return {}
    scores = np.asarray(model.score_samples(table))
    explanations = [""] * len(scores)
    if reasons > 0:
        rows = np.sort(np.argsort(scores, kind="stable")[:reasons])
        for row, why in zip(rows, model.explain(_take(table, rows)), strict=True):
            explanations[row] = why["text"]
    return {
        "outlier": _plain(scores < model.offset_),
        "score": [float(score) if np.isfinite(score) else None for score in scores],
        "tail_probability": _plain(model.tail_probability(table)),
        "outlier_probability": _plain(model.outlier_probability(table)),
        "reasons": explanations,
    }


def _memberships(model: Any, table: Any) -> Columns:
    """Most probable cluster, state or class, and the probability of each."""
    from sklearn.base import is_regressor

    if not hasattr(model, "predict") or is_regressor(model) or _is_detector(model):
        return {}
    kind = _kind(model)
    found: Columns = {kind: _plain(model.predict(table))}
    if hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(table))
        labels = getattr(model, "classes_", range(shares.shape[1])) if kind == "prediction" else range(shares.shape[1])
        found |= {f"p({label})": _plain(shares[:, k]) for k, label in enumerate(labels)}
    return found


def _number(model: Any, table: Any, level: float) -> Columns:
    """Predicted numbers with their intervals."""
    from sklearn.base import is_regressor

    if not is_regressor(model):
        return {}
    found: Columns = {"prediction": _plain(model.predict(table))}
    if hasattr(model, "interval"):
        low, high = np.asarray(model.interval(table, level)).T
        found |= {"low": _plain(low), "high": _plain(high)}
    return found


def _surprise(model: Any, table: Any, reasons: int) -> Columns:
    """How surprising each row is, what share of the rows is less so, and why, for the first of them."""
    from latently.data.tables import frames

    if not hasattr(model, "impute_mean") or _kind(model) != "cluster":  # only a mixture has a density of single rows
        return {}
    surprise = -np.asarray(model.score_samples(table))
    order = np.argsort(-surprise, kind="stable")
    ranks = np.searchsorted(np.sort(surprise), surprise) / len(surprise)
    explanations = [""] * len(surprise)
    if reasons > 0:
        rows = np.sort(order[:reasons])
        step = max(1, frames.row_count(table) // _REFERENCE)
        everywhere = np.arange(0, frames.row_count(table), step)
        for row, why in zip(rows, _reasons(model, table, rows, everywhere), strict=True):
            explanations[row] = why
    finite = np.where(np.isfinite(surprise), surprise.astype(object), np.array(None))
    return {"surprise": _plain(finite), "rank": _plain(ranks), "reasons": explanations}


def _reasons(model: Any, table: Any, rows: Any, everywhere: Any) -> list[str]:
    from latently.explain import surprises

    explanations = surprises(model, _take(table, rows), reference=_take(table, everywhere))
    return [
        "; ".join(_reason(column) for column in row["columns"][:3] if column["excess"] > 0.5) for row in explanations
    ]


def _reason(column: dict[str, Any]) -> str:
    low, high = column["low"], column["high"]
    expected = str(low) if low == high else f"{_short(low)} to {_short(high)}"
    return f"{column['column']} is {_short(column['value'])}, expected {expected}"


def _imputed(model: Any, table: Any, level: float) -> Columns:
    """Columns that have missing values, filled, with the ends of their intervals."""
    from latently.data.tables import frames
    from latently.data.tables.values import is_missing
    from latently.impute import Imputer

    imputer = model if hasattr(model, "draws") else Imputer(model) if hasattr(model, "impute_mean") else None
    if imputer is None:
        return {}
    found: Columns = {}
    absent = {name: [is_missing(v) for v in view.to_list()] for name, view in frames.views(table).items()}
    with_missing = [name for name, missing in absent.items() if any(missing)]
    if not with_missing:
        return {}
    filled = frames.views(imputer.transform(table))
    low, high = (frames.views(end) for end in imputer.interval(table, level))
    for name in with_missing:
        found[name] = filled[name].to_list()
        for end, side in ((low, "low"), (high, "high")):
            found[f"{name} {side}"] = [
                v if missing else None for v, missing in zip(end[name].to_list(), absent[name], strict=True)
            ]
    return found


def _decided(model: Any, table: Any, rewards: Any) -> Columns:
    """The action of highest expected reward, what it brings, and by how much more than the next."""
    if not hasattr(model, "decide"):
        raise ValueError(f"{type(model).__name__} gives no probabilities, so there is nothing to decide by")
    choice = model.decide(table, rewards)
    margin = np.asarray(choice.margin)
    return {
        "action": _plain(choice.action),
        "expected reward": _plain(choice.reward),
        "margin": _plain(np.where(np.isfinite(margin), margin.astype(object), np.array(None))),
    }


def _take(table: Any, rows: Any) -> Any:
    import narwhals.stable.v1 as nw

    return nw.from_native(table)[rows.tolist()].to_native()


def _plain(values: Any) -> list[Any]:
    return list(np.asarray(values).tolist())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
