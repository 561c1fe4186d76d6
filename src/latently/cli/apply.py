"""`latently apply`."""

import warnings
from pathlib import Path
from typing import Any

from latently.cli.words import Json, Output, print_json, read, say, working, write_columns


def apply(
    model: Path,
    file: Path,
    /,
    *,
    output: Output = None,
    reward: Path | None = None,
    reasons: int = 20,
    level: float = 0.9,
    json: Json = False,
) -> None:
    """Apply a saved model to the rows of a table.

    Gives, as far as the model knows them: the cluster, state or predicted value of each row and its probabilities, how
    surprising the row is and why, missing values with intervals, and the best action.

    Parameters
    ----------
    model
        A model that latently fit saved.
    file
        CSV, TSV, Parquet, Feather or Excel with the columns that the model was fitted to.
    output
        Where to write the result: .csv, .tsv, .json, .parquet or .feather. By default CSV is printed.
    reward
        A table of rewards, one row for each state and one column for each action; the first column names the states.
        The action of highest expected reward is added for each row.
    reasons
        For how many of the most surprising rows reasons are given.
    level
        Probability of the intervals.
    json
        Print the result as JSON.
    """
    import latently
    from latently.cli.answers import answers

    if not 0 < level < 1:
        raise ValueError(f"--level is a probability between 0 and 1, got {level}")
    loaded = _loaded(model, latently.load)
    table = _columns_of(loaded, read(file, None, 0)[0], file)
    rewards = None if reward is None else _rewards(reward)
    with working(f"applying {type(loaded).__name__}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # columns were found by name: what a model then passes on to itself needs none
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        found = answers(loaded, table, rewards=rewards, reasons=reasons, level=level)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"warning: {text}")
    if json:
        print_json({"model": type(loaded).__name__, "rows": _records(found)})
    if output is not None or not json:
        write_columns(found, output)
    if output is not None:
        say(f"written: {output}")


def _loaded(path: Path, load: Any) -> Any:
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}: make one with latently fit")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory: name a file in it")
    return load(path)


def _columns_of(model: Any, table: Any, file: Path) -> Any:
    """Give the columns that a model was fitted to, by name."""
    from latently.data.tables import frames
    from latently.data.tables.values import quote

    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return table
    there = frames.column_names(table)
    absent = [str(name) for name in names if name not in there]
    if absent:
        raise ValueError(
            f"{file} lacks column {quote(absent)}, which the model was fitted to; it has {quote(there, 10)}"
        )
    return frames.select(table, [str(name) for name in names])


def _rewards(path: Path) -> dict[Any, dict[str, float]]:
    """Read rewards: {state: {action: reward}}."""
    from latently.data.tables import frames

    columns = {name: view.to_list() for name, view in frames.views(read(path, None, 0)[0]).items()}
    states, *actions = columns
    if not actions:
        raise ValueError(f"{path} has no actions: its first column names the states, the others are the actions")
    return {
        state: {action: columns[action][place] for action in actions} for place, state in enumerate(columns[states])
    }


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
