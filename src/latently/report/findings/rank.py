"""Which finding comes first: size of the effect times surprise, what says nothing new last."""

from dataclasses import replace
from typing import Final

from latently.report.findings.finding import Finding

TRIVIAL: Final = ("redundant", "identifier", "order")
MOST, MOST_TRIVIAL = 9, 3

# how far a finding goes beyond what a reader expects of any table; what was asked for comes first
_SURPRISE: Final = {
    "leakage": 1.1,
    "target": 1.05,
    "season": 1.0,
    "trend": 1.0,
    "reversal": 1.0,
    "change": 0.9,
    "drift": 0.9,
    "dependency": 0.9,
    "clusters": 0.85,
    "missing_code": 0.8,
    "spelling": 0.8,
    "duplicates": 0.8,
    "missingness": 0.8,
    "determines": 0.75,
    "states": 0.7,
    "anomaly": 0.6,
    "redundant": 0.03,
    "identifier": 0.02,
    "order": 0.01,
}
_SHARES: Final = ("correlation", "share", "difference", "strength", "R2")
_PLAIN: Final = {"clusters": 0.85, "missing_code": 0.8, "anomaly": 0.8, "states": 0.8, "spelling": 0.8}


def ranked(findings: list[Finding]) -> list[Finding]:
    """Put findings in order, the most important first, and trivial ones at the end.

    Parameters
    ----------
    findings
        In any order; `importance` is set where it is not.

    Examples
    --------
    >>> from functools import partial
    >>> copy = Finding("redundant", "b repeats a.", "dependencies", effect=1, measure="columns")
    >>> rises = partial(Finding, "dependency", "a rises with b.", "dependencies", measure="correlation")
    >>> weak, strong = rises(effect=0.3), rises(effect=0.9)
    >>> [(f.finding, f.effect) for f in ranked([copy, weak, strong])]
    [('dependency', 0.9), ('dependency', 0.3), ('redundant', 1)]
    """
    weighed = [each if each.importance else replace(each, importance=_importance(each)) for each in findings]
    ordered = sorted(weighed, key=lambda each: -each.importance)
    telling = [each for each in ordered if each.finding not in TRIVIAL]
    return telling[:MOST] + [each for each in ordered if each.finding in TRIVIAL][:MOST_TRIVIAL]


def importance(finding: str, size: float) -> float:
    """Size of an effect, 0 to 1, times the surprise of its kind."""
    return max(min(size, 1.0), 0.01) * _SURPRISE[finding]


def _importance(finding: Finding) -> float:
    return importance(finding.finding, _size(finding))


def _size(finding: Finding) -> float:
    """How large an effect is, 0 to 1."""
    if finding.finding in ("target", "leakage"):
        return 1.0
    if finding.finding in _PLAIN:
        return _PLAIN[finding.finding]
    if finding.effect is not None and finding.measure.startswith(_SHARES):
        return abs(finding.effect)
    return 0.6
