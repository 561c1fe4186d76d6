"""The clusters: how many, how sure, and what is typical in each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.finding import Finding
from latently.report.sections.typical import typical
from latently.report.study.evidence import belief, share_interval
from latently.report.study.groups import APART, Separation
from latently.report.study.learning import agreement
from latently.report.study.power import gap
from latently.report.study.study import Study
from latently.report.study.words import counted, cut, listed, percent, short

_CARD_ROWS = 5000
_DOUBTFUL = 0.8
_CHANCE, _LIKELY = 0.3, 0.6  # p-value and probability, from which a finer solution is shown, and said
_EASY = 4  # clusters that a reader can keep apart
_SAME, _IN_PART = 0.9, 0.2  # adjusted Rand index


def clusters(study: Study) -> dict[str, Any]:
    """Tell into how many clusters the rows fall, and describe each.

    Parameters
    ----------
    study
        The table and its model.
    """
    fitted, separation, _ = study.model()
    shares = study.memberships
    best = shares.max(axis=1)
    n, finds = shares.shape[1], _finds(study, separation)
    finer, labels = _finer(study), _labels(study) if n > 1 else []
    more = _size(finds) if n == 1 else "".join(label["text"] for label in labels)
    more += finer["text"] if finer is not None and finer["probability"] >= _LIKELY else ""
    return {
        "n": n,
        # of a table without gaps nothing says how probable it is that there are none
        "probability_more_than_one": belief(separation.p) if n > 1 else None,
        "doubtful_share": float((best < _DOUBTFUL).mean()),
        "mean_doubt": float((1 - best).mean()),
        "columns": [cut(name) for name in study.prepared.names],
        "components": fitted.view.size,
        "text": _text(n, fitted.view.size, separation.p, best) + more,
        "finds": finds,
        "finer": finer,
        "labels": labels,
        "cards": _cards(study) if n > 1 else [],
    }


def _finds(study: Study, separation: Separation) -> float | None:
    """How far apart two clusters would have been found in 9 of 10 tables, in standard deviations; None if unknown."""
    return gap(len(study.prepared.sample) / separation.share) if len(study.prepared.numeric) else None


def _size(finds: float | None) -> str:
    far = "" if finds is None else f"{finds:.1f} standard deviations apart"
    return f" Two clusters of equal size {far} would have been found in 9 of 10 such tables." if far else ""


def _text(n: int, components: int, p: float, best: NDArray[np.float64]) -> str:
    if n > 1:
        sure = float((best >= _DOUBTFUL).mean())
        return (
            f"The rows fall into {n} clusters with gaps between them. {'All' if sure == 1 else percent(sure)} of the "
            "rows belong to their cluster with a probability of at least 80 %."
        ).replace(". over", ". Over")
    if components == 1:
        return "No clusters: one component describes the table better than several."
    return (
        f"No clusters: the best model has {components} components, but rows that were held back show no gap between "
        f"them (p = {p:.2g}, needed {APART:g}). They may describe the shape of one cloud, or groups that overlap."
    )


def _labels(study: Study) -> list[dict[str, Any]]:
    """Columns of classes that were set aside, and how far the clusters agree with each."""
    sample, own = study.prepared.sample, study.memberships[study.prepared.sample].argmax(axis=1)
    made = []
    for column in study.prepared.aside:
        same = agreement(column.seen[sample], own)
        text = f" {short(column.name)}, which was not used to find them, {_agrees(same)}"
        made.append(
            {"column": cut(column.name), "agreement": same, "text": f"{text} (adjusted Rand index {same:.2f})."}
        )
    return made


def _agrees(same: float) -> str:
    if same >= _SAME:
        return "names the same groups"
    return "goes with them in part" if same >= _IN_PART else "is something else"


def _finer(study: Study) -> dict[str, Any] | None:
    """The solution with one cluster more, whose gap is less sure; None if there is none."""
    _, separation, strange = study.model()
    if separation.finer is None or separation.finer_p >= _CHANCE:
        return None
    shares = np.stack([strange.shares[:, list(g)].sum(axis=1) for g in separation.finer], axis=1)
    split = [k for k, g in enumerate(separation.finer) if g not in separation.groups]
    sizes = [float(share) for share in shares.mean(axis=0)]
    tells = _between(study, shares[:, split])
    sure = belief(separation.finer_p)
    many = " and ".join(percent(sizes[k]) for k in split)
    by = f", told apart by {listed(tells)}" if tells else ""
    what = "all rows split" if len(split) == len(sizes) else "one of them splits"
    text = f" {len(sizes)} clusters are possible too (probability {percent(sure)}): {what} into {many}{by}."
    return {"n": len(sizes), "probability": sure, "sizes": sizes, "columns": tells, "text": text}


def _between(study: Study, two: NDArray[np.float64]) -> list[str]:
    """Columns that tell two groups apart, among the rows that belong to them."""
    rows = np.flatnonzero(two.sum(axis=1) > 0.5)
    rows = study.prepared.rng(6).permutation(rows)[:_CARD_ROWS]
    shares = np.clip(two[rows] / np.maximum(two[rows].sum(axis=1, keepdims=True), 1e-300), 0.0, 1.0)
    return [entry["column"] for entry in typical(study.prepared.used, rows, shares)[0][:3]]


def _cards(study: Study) -> list[dict[str, Any]]:
    rows = study.prepared.rng(6).permutation(study.prepared.rows)[:_CARD_ROWS]
    told = typical(study.prepared.used, rows, study.memberships[rows])
    return [_card(k, entries, study) for k, entries in enumerate(told)]


def _card(k: int, entries: list[dict[str, Any]], study: Study) -> dict[str, Any]:
    shares = study.memberships
    share = float(shares[:, k].mean())
    own = shares.argmax(axis=1) == k
    return {
        "cluster": k + 1,
        "share": share,
        "interval": share_interval(share, study.prepared.distinct),
        "rows": int(own.sum()),
        "doubt": float((1 - shares[own, k]).mean()) if own.any() else 0.0,
        "typical": entries,
    }


def cluster_finding(found: dict[str, Any]) -> Finding:
    """The finding in one sentence."""
    sizes = ", ".join(percent(card["share"]) for card in found["cards"][:4])
    tells = [card["typical"][0]["column"] for card in found["cards"] if card["typical"]]
    about = f"; {short(tells[0])} tells them apart most" if tells else ""
    more = " and smaller ones" if len(found["cards"]) > 4 else ""
    same = [label["column"] for label in found["labels"] if label["agreement"] >= _SAME]
    named = f", the same groups as {short(same[0])}" if same else ""
    text = f"The rows fall into {counted(found['n'], 'cluster')} with gaps between them ({sizes}{more}){named}{about}."
    finer = found["finer"]
    return Finding(
        "clusters",
        text + (finer["text"] if finer is not None and finer["probability"] >= _LIKELY else ""),
        "clusters",
        columns=(*dict.fromkeys([*same, *tells]),),
        effect=found["n"],
        measure="clusters",
        probability=found["probability_more_than_one"],
        code=_code(found, tells),
        size=(1 - found["mean_doubt"]) * float(np.sqrt(min(_EASY / found["n"], 1.0))),
    )


def _code(found: dict[str, Any], tells: list[str]) -> str:
    """Lines that show the column which tells most: two humps, or a table of two columns of classes."""
    if not tells:
        return ""
    entry = next(card["typical"][0] for card in found["cards"] if card["typical"])
    if entry["overall"].startswith("median "):
        return f"df[{tells[0]!r}].plot.hist(bins=40)"
    return f"df[{tells[0]!r}].value_counts(normalize=True)"
