"""Which finding comes first: size of the effect times surprise, what says nothing new last."""

from typing import Final

from latently.report.findings.finding import Finding

TRIVIAL: Final = ("redundant", "identifier", "order")
MOST, MOST_TRIVIAL = 9, 3
_AGAIN: Final = 0.6  # worth of what says much the same as a finding before it
_MORE: Final = 0.85  # worth of one more of a kind that tires
_TIRING: Final = ("determines", "anomaly")
_ONCE: Final = ("duplicates", "leakage", "missingness", "reversal")
_LINKS: Final = ("dependency", "reversal")
_FEW: Final = 3

# how far a finding goes beyond what a reader expects of any table; what was asked for comes first
_SURPRISE: Final = {
    "leakage": 1.1,
    "target": 1.05,
    "season": 0.95,
    "trend": 0.95,
    "reversal": 1.0,
    "change": 0.85,
    "drift": 0.9,
    "dependency": 0.9,
    "clusters": 0.9,
    "missing_code": 0.8,
    "spelling": 0.8,
    "duplicates": 0.8,
    "missingness": 0.8,
    "determines": 0.75,
    "states": 0.75,
    "anomaly": 0.7,
    "redundant": 0.03,
    "identifier": 0.02,
    "order": 0.01,
}


def ranked(findings: list[Finding]) -> list[Finding]:
    """Put findings in order, the most important first, and trivial ones at the end.

    Parameters
    ----------
    findings
        In any order.

    Examples
    --------
    >>> from functools import partial
    >>> copy = Finding("redundant", "b repeats a.", "dependencies", effect=1, measure="columns")
    >>> rises = partial(Finding, "dependency", "a rises with b.", "dependencies", measure="correlation")
    >>> weak, strong = rises(effect=0.3), rises(effect=0.9)
    >>> [(f.finding, f.effect) for f in ranked([copy, weak, strong])]
    [('dependency', 0.9), ('dependency', 0.3), ('redundant', 1)]
    """
    ordered = sorted(findings, key=lambda each: -importance(each))
    telling = [each for each in ordered if each.finding not in TRIVIAL]
    return _varied(telling)[:MOST] + [each for each in ordered if each.finding in TRIVIAL][:MOST_TRIVIAL]


def _varied(ordered: list[Finding]) -> list[Finding]:
    """Put what says much the same as a finding before it after what is new."""
    left, out = list(ordered), list[Finding]()

    def worth(finding: Finding) -> float:
        before = sum(each.finding == finding.finding for each in out) if finding.finding in _TIRING else 0
        return importance(finding) * (_AGAIN if _is_again(finding, out) else _MORE**before)

    while left:
        out.append(left.pop(left.index(max(left, key=worth))))
    return out


def _is_again(finding: Finding, told: list[Finding]) -> bool:
    """Whether it adds little: to another of its kind, or to what was told of the same columns."""
    if finding.finding in _ONCE:
        return any(each.finding == finding.finding for each in told)
    fixed = [each for each in told if each.finding == "determines"]
    if finding.finding == "determines":
        return _names(fixed).issuperset(finding.columns)
    links = [each for each in told if each.finding in _LINKS]
    # a column that fixes many others says little about how these go together
    known = _names([*links, *(each for each in fixed if len(each.columns) <= _FEW)])
    return finding.finding == "dependency" and known.issuperset(finding.columns[:2])


def _names(findings: list[Finding]) -> set[str]:
    return {name for each in findings for name in each.columns}


def importance(finding: Finding) -> float:
    """Size of the effect, 0 to 1, times the surprise of its kind."""
    return finding.weight * _SURPRISE[finding.finding]
