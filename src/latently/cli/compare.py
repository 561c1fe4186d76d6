"""`latently compare`."""

from pathlib import Path
from typing import Any

from latently.cli.words import MAX_ROWS, Json, print_json, printable, read, say, working


def compare(old: Path, new: Path, /, *, seed: int = 0, max_rows: int = MAX_ROWS, json: Json = False) -> None:
    """Compare two tables: whether new rows come from the same source as old ones, and which columns changed.

    A model is fitted to the old table, and says how likely the new rows are, column by column.

    Parameters
    ----------
    old
        The table as it was.
    new
        The table as it is now. Columns are matched by name.
    seed
        Seed of all that is random.
    max_rows
        Rows to read of each; of a larger file a sample is taken. 0 for all.
    json
        Print the comparison as JSON.
    """
    tables = [read(file, max_rows, seed)[0] for file in (old, new)]
    from latently.report import compare as find

    with working("comparing"):
        found = find(*tables, seed=seed)
    if json:
        print_json(found)
    else:
        _print(found)


def _print(found: dict[str, Any]) -> None:
    print(found["text"])
    print(f"p = {found['p_value']:.3g}: so often would two tables from one source differ as much in some column")
    print(
        f"a new row is {abs(found['fall']):.3g} nats {'less' if found['fall'] > 0 else 'more'} likely than an old one\n"
    )
    width = max(6, *(len(_short(column["column"])) for column in found["columns"]))
    print(f"  {'column':<{width}}  {'p':>7}  {'fall':>8}  {'given rest':>10}  {'missing':>15}  typical")
    for column in found["columns"]:
        missing = " to ".join(f"{100 * share:.3g} %" for share in column["missing"].values())
        typical = " to ".join(_short(value) for value in column["typical"].values())
        mark = "*" if column["changed"] else " "
        print(
            f"{mark} {_short(column['column']):<{width}}  {column['adjusted']:>7.3g}  {column['fall']:>8.3g}  "
            f"{column['fall_given_rest']:>10.3g}  {missing:>15}  {typical}"
        )
        if column["new_levels"]:
            print(f"  {'':<{width}}  new: {', '.join(map(_short, column['new_levels'][:5]))}")
    for name, words in (("only_old", "only in the old table"), ("only_new", "only in the new table")):
        if found[name]:
            say(f"{words}: {', '.join(map(_short, found[name]))}")
    for left in found["left_out"]:
        say(f"{_short(left['column'])} {left['text']}")


def _short(value: Any) -> str:
    """Write a value in a few signs on one line."""
    text = printable(str(value).replace("\n", " "))
    return text if len(text) <= 40 else f"{text[:39]}…"
