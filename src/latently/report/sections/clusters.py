"""The clusters: how many, how sure, and what is typical in each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.report.findings.finding import Finding
from latently.report.sections.typical import typical
from latently.report.study.evidence import belief, share_interval
from latently.report.study.groups import APART, Separation
from latently.report.study.power import gap
from latently.report.study.study import Study
from latently.report.study.words import counted, cut, percent, short

_CARD_ROWS = 5000
_DOUBTFUL = 0.8


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
    return {
        "n": n,
        # of a table without gaps nothing says how probable it is that there are none
        "probability_more_than_one": belief(separation.p) if n > 1 else None,
        "doubtful_share": float((best < _DOUBTFUL).mean()),
        "mean_doubt": float((1 - best).mean()),
        "columns": [cut(name) for name in study.prepared.names],
        "components": fitted.view.size,
        "text": _text(n, fitted.view.size, separation.p, best) + (_size(finds) if n == 1 else ""),
        "finds": finds,
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
        sure = percent(float((best >= _DOUBTFUL).mean()))
        return (
            f"The rows fall into {n} clusters with gaps between them. {sure} of the rows belong to their cluster "
            "with a probability of at least 80 %."
        )
    if components == 1:
        return "No clusters: one component describes the table better than several."
    return (
        f"No clusters: the best model has {components} components, but rows that were held back show no gap between "
        f"them (p = {p:.2g}, needed {APART:g}). They may describe the shape of one cloud, or groups that overlap."
    )


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
    best = next((card["typical"][0]["column"] for card in found["cards"] if card["typical"]), None)
    about = f"; {short(best)} tells them apart most" if best else ""
    more = " and smaller ones" if len(found["cards"]) > 4 else ""
    text = f"The rows fall into {counted(found['n'], 'cluster')} with gaps between them ({sizes}{more}){about}."
    return Finding(
        "clusters",
        text,
        "clusters",
        columns=tuple(found["columns"]),
        effect=found["n"],
        measure="clusters",
        probability=found["probability_more_than_one"],
    )
