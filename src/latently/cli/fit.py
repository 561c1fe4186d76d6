"""`latently fit`."""

import json as parsing
import warnings
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from latently.cli.words import MAX_ROWS, Json, chosen, print_json, read, say, working


def fit(
    model: str,
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("model.latently"),
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative="")] = None,
    columns: str | None = None,
    drop: str | None = None,
    target: str | None = None,
    seed: int = 0,
    max_rows: int = MAX_ROWS,
    json: Json = False,
) -> None:
    """Fit a model to a table and save it.

    For example: latently fit Mixture people.csv --set n_components=3 --drop name

    Parameters
    ----------
    model
        Which model: see latently models.
    file
        CSV, TSV, Parquet, Feather or Excel. For models of sequences the rows are one sequence, in their order.
    output
        Where to save the model.
    set_
        A setting of the model, such as n_components=3; may be given several times. Models inside others go by name:
        model=Mixture, then model__n_components=3.
    columns
        Columns to learn from, separated by commas; all if not given.
    drop
        Columns to leave out, separated by commas.
    target
        The column to predict, for models that predict one; for detectors that take labels the column that has them: 1
        belongs, -1 outlier, 0 unknown.
    seed
        Seed of all that is random.
    max_rows
        Rows to learn from; of a larger file a sample is taken. 0 for all.
    json
        Print what was learnt as JSON.
    """
    import latently
    from latently.cli.models import find

    made = _made(find(model), set_ or [], seed)
    if not output.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {output.parent}: make it, or save elsewhere (--output)")
    table, total = read(file, max_rows, seed)
    names = chosen(table, columns, drop, [target] if target else [])
    with working(f"fitting {type(made).__name__}"):
        caught = _fitted(made, table, names, target)
    latently.save(made, output)
    summary = _summary(made, names, total, table) | {"warnings": caught, "file": str(output)}
    if json:
        print_json(summary)
    else:
        _print(summary)


def _made(cls: Any, settings: list[str], seed: int) -> Any:
    given = dict(_setting(text) for text in settings)
    allowed = cls().get_params(deep=False)
    wrong = [name for name in given if name.partition("__")[0] not in allowed]
    if wrong:
        raise ValueError(f"{cls.__name__} has no setting {wrong[0]!r}, only {', '.join(allowed)}")
    given |= {name: _inner(given[name], seed) for name in ("model", "detectors") if name in given and name in allowed}
    if "random_state" in allowed:
        given.setdefault("random_state", seed)
    return cls().set_params(**given)


def _inner(value: Any, seed: int) -> Any:
    """Models inside a model, from their names."""
    from latently.cli.models import find

    if isinstance(value, list):
        return [_inner(each, seed) for each in value]
    return _made(find(value), [], seed) if isinstance(value, str) else value


def _setting(text: str) -> tuple[str, Any]:
    """Read a name and a value, which is JSON or else a string."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ValueError(f"--set {text!r} is not of the form name=value, such as n_components=3")
    try:
        return name.strip(), parsing.loads(value)
    except ValueError:
        return name.strip(), value


def _fitted(model: Any, table: Any, names: list[str], target: str | None) -> list[str]:
    """Fit a model to some columns; give the warnings."""
    import numpy as np

    from latently.data.tables import frames

    X = frames.select(table, names)
    needs = _predicts(model)
    if needs and target is None:
        raise ValueError(f"{type(model).__name__} predicts a column: name it with --target")
    if target is not None and not needs and not _takes_labels(model):
        raise ValueError(f"{type(model).__name__} predicts no column: leave out --target")
    y = [np.asarray(frames.views(table)[target].to_list())] if target else []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, *y)
        except (TypeError, ValueError) as problem:
            raise ValueError(
                f"{type(model).__name__}: {problem} (--drop leaves columns out; Mixture takes any)"
            ) from problem
    if not hasattr(model, "feature_names_in_"):
        model.feature_names_in_ = np.asarray(names, dtype=object)
    return list(dict.fromkeys(str(warning.message) for warning in caught))


def _predicts(model: Any) -> bool:
    from sklearn.base import is_classifier, is_regressor

    return bool(is_classifier(model) or is_regressor(model))


def _takes_labels(model: Any) -> bool:
    """Whether a detector learns from known outliers."""
    from latently.detect import SVDD, CombinedDetector, SemiSupervisedSVDD

    return isinstance(model, SVDD | SemiSupervisedSVDD | CombinedDetector)


def _summary(model: Any, names: list[str], total: int, table: Any) -> dict[str, Any]:
    from latently.data.tables import frames

    rows = frames.row_count(table)
    summary: dict[str, Any] = {"model": type(model).__name__, "columns": names, "rows": rows, "total_rows": total}
    if hasattr(model, "converged_"):
        summary["converged"] = bool(model.converged_)
    if hasattr(model, "n_iter_") and model.n_iter_ is not None:
        summary["iterations"] = int(model.n_iter_)
    return summary


def _print(summary: dict[str, Any]) -> None:
    print(f"{summary['model']}, fitted to {summary['rows']} rows and {len(summary['columns'])} columns")
    if summary["rows"] < summary["total_rows"]:
        print(f"a sample of {summary['total_rows']} rows; --max-rows 0 takes all")
    if "converged" in summary:
        print("converged" if summary["converged"] else "not converged")
    for warning in summary["warnings"]:
        say(f"warning: {warning}")
    print(f"saved: {summary['file']}")
