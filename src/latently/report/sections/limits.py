"""What a report cannot tell."""

from typing import Any

from latently.report.findings.exact import MOST_COLUMNS as MOST_EXACT
from latently.report.findings.rules import MOST_COLUMNS as MOST_IN_RULES
from latently.report.sections.missing import MOST_COLUMNS as MOST_TESTED
from latently.report.study.study import Study
from latently.report.study.words import counted, listed

_ALWAYS = (
    "Dependence is not cause: nothing here says what would happen if a column were changed.",
    "A cluster is a group of rows with a gap around it. Groups that overlap, or differ only in spread, are not "
    "reported.",
    "What was not found may still be there: small tables hide weak effects, and only pairs of columns are tested.",
    "Missing values are filled as if they depended on the columns seen only; whether a value is missing because of "
    "what it was cannot be seen in a table.",
    "A rare category alone is never called strange, and a row is only strange by numbers.",
)


def limits(contents: dict[str, Any], study: Study) -> list[str]:
    """Sentences on what the report leaves open.

    Parameters
    ----------
    contents
        The report so far.
    study
        The table and its model.
    """
    made = list(_ALWAYS)
    prepared = study.prepared
    if prepared.rows < 200:
        made.append(f"With {counted(prepared.rows, 'row')} only strong effects can be distinguished from chance.")
    unread = [c.name for c in prepared.columns if c.kind in ("text", "identifier", "date")]
    if unread:
        made.append(f"What is written in {listed(unread)} is not read by the model.")
    unseen = sum(c.role is not None for c in prepared.columns) - len(prepared.used) - len(prepared.aside)
    if unseen:
        least = "those that share least with the others are described, not modelled"
        made.append(f"The model sees {len(prepared.used)} columns; {unseen} more, {least}.")
    made += _of_wide_tables(contents, study)
    if prepared.is_sampled or contents["source"]["sampled"]:
        made.append("Where a sample was looked at, rare things in the other rows may have been missed.")
    return made + _by_section(contents)


def _of_wide_tables(contents: dict[str, Any], study: Study) -> list[str]:
    """Searches that look at some of the columns only."""
    made, columns = [], study.prepared.columns
    if untested := contents["missing"].get("untested"):
        made.append(
            "Whether missing values depend on other columns was tested for the "
            f"{MOST_TESTED} columns of which nearest to half is missing; {counted(untested, 'more column')} with "
            f"missing values {'was' if untested == 1 else 'were'} not tested."
        )
    if len(columns) > MOST_EXACT:
        made.append(f"Copies, and columns that fix others, were looked for among the first {MOST_EXACT} columns.")
    if sum(c.kind == "numeric" for c in columns) > MOST_IN_RULES:
        made.append(f"Sums, products and limits were looked for among the first {MOST_IN_RULES} columns of numbers.")
    return made


def _by_section(contents: dict[str, Any]) -> list[str]:
    made = []
    if contents.get("target") and "skipped" not in contents["target"]:
        made.append(
            "The prediction of the target is a simple one (naive Bayes, a random forest, or linear with squares): a "
            "better one may exist, and columns that say the same share their importance."
        )
    if contents.get("time") and "skipped" not in contents["time"]:
        made.append(
            "States suppose one series of rows with jumps between levels; several series in one table should be "
            "explored one by one."
        )
    if contents["dependencies"].get("order"):
        made.append(
            "The rows are not in a random order: where columns resemble the rows before, pairs, clusters and "
            "anomalies are judged by fewer rows; a target is judged as if rows were independent, unless time is given."
        )
    return made
