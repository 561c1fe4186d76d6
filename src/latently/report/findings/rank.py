"""Which finding comes first: size of the effect times surprise, what says nothing new last."""

from typing import Final

from latently.report.findings.finding import Finding

TRIVIAL: Final = ("redundant", "identifier", "order")
MOST, MOST_TRIVIAL = 9, 3
_AGAIN: Final = 0.6  # worth of a dependence between columns that were told to depend on others

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
    """Put a dependence of two columns that were both told before after what is new."""
    left, out, told = list(ordered), [], set[str]()

    def worth(finding: Finding) -> float:
        again = finding.finding == "dependency" and told.issuperset(finding.columns[:2])
        return importance(finding) * (_AGAIN if again else 1.0)

    while left:
        out.append(left.pop(left.index(max(left, key=worth))))
        if out[-1].finding in ("dependency", "reversal"):
            told.update(out[-1].columns)
    return out


def importance(finding: Finding) -> float:
    """Size of the effect, 0 to 1, times the surprise of its kind."""
    return finding.weight * _SURPRISE[finding.finding]
