"""Which finding comes first: size of the effect times surprise, what says nothing new last."""

from typing import Final

from latently.report.findings.finding import Finding

TRIVIAL: Final = ("redundant", "identifier", "order")
MOST, MOST_TRIVIAL = 9, 3
_AGAIN: Final = 0.6  # worth of what says much the same as a finding before it
_ONCE: Final = ("duplicates", "missingness")
_LINKS: Final = ("dependency", "reversal")

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
        return importance(finding) * (_AGAIN if _is_again(finding, out) else 1.0)

    while left:
        out.append(left.pop(left.index(max(left, key=worth))))
    return out


def _is_again(finding: Finding, told: list[Finding]) -> bool:
    """Whether two columns were both told to depend on others, or a second finding of a kind adds little to the first.

    A column that fixes many others says little about how these go together.
    """
    fixed = {name for each in told if each.finding == "determines" for name in each.columns}
    if finding.finding == "determines":
        return fixed.issuperset(finding.columns)
    if finding.finding in _ONCE:
        return any(each.finding == finding.finding for each in told)
    linked = [
        each for each in told if each.finding in _LINKS or (each.finding == "determines" and len(each.columns) < 4)
    ]
    return finding.finding == "dependency" and {n for e in linked for n in e.columns}.issuperset(finding.columns[:2])


def importance(finding: Finding) -> float:
    """Size of the effect, 0 to 1, times the surprise of its kind."""
    return finding.weight * _SURPRISE[finding.finding]
