"""What is said of a target, in sentences."""

from typing import Any, Final

from latently.report.prediction.task import Task
from latently.report.study.study import Study
from latently.report.study.words import counted, listed, number, often, percent, short

_HARDLY: Final = 0.005  # share of the variance, below which a prediction is of no use


def class_text(found: dict[str, Any], task: Task) -> str:
    """How well a class is predicted, and what matters."""
    start, name = f"On {counted(found['held_out'], 'row')} held back", short(task.name)
    if not found["tells"]:
        return _nothing(found, start, name)
    loss = f"log loss {found['log_loss']:.2f} against {found['log_loss_guessing']:.2f} by guessing"
    if found["rare"] is not None:
        rare = f"{name} is {short(found['rare']['class'])} in {percent(found['rare']['share'])} of the rows only"
        said = f"{rare}, so that being right often says little. {start} {_ranked(found)}, {loss}."
    elif found["score"] <= found["usual"]:
        said = f"{start} the other columns make {name} less uncertain ({loss}), but do not help to guess it."
    else:
        against = f"against {percent(found['usual'])} by always saying the most common class"
        said = f"{start} {name} is predicted right in {often(found['score'])}, {against} ({loss})."
    return said + _matter(found["importance"]) + _beside(found)


def _ranked(found: dict[str, Any]) -> str:
    auc = f"AUC {found['auc']:.2f}; 0.50 by chance"
    return f"the model ranks a row of a class above one of another in {percent(found['auc'])} of the pairs ({auc})"


def number_text(found: dict[str, Any], task: Task) -> str:
    """How well a number is predicted, and what matters."""
    start, name = f"On {counted(found['held_out'], 'row')} held back", short(task.name)
    if not found["tells"] or found["score"] < _HARDLY:
        return _nothing(found, start, name)
    against = (
        f"predictions are off by {number(found['error'])}, against {number(found['usual'])} by always saying the mean"
    )
    said = f"{start} the other columns explain {percent(found['score'])} of the variance of {name}: {against}."
    return said + _matter(found["importance"]) + _beside(found)


def _nothing(found: dict[str, Any], start: str, name: str) -> str:
    """No claim that nothing is there: single columns may go with the target too weakly to predict it."""
    said = f"{start} no model predicts {name} better than guessing."
    hints = [column for entry in found["importance"] if entry["interval"][0] > 0 for column in entry["columns"]]
    hints = list(dict.fromkeys([*found["related"], *hints]))
    if not hints:
        return said
    verb = "does go with it" if len(hints) == 1 else "do go with it"
    return f"{said} {listed(hints)} {verb}, too weakly for a prediction."


def _matter(importance: list[dict[str, Any]]) -> str:
    sure = [entry for entry in importance if entry["interval"][0] > 0]
    names = [_block(entry["columns"]) for entry in sure]
    return f" What matters: {listed(names)}." if names else ""


def _beside(found: dict[str, Any]) -> str:
    """Columns that go with the target by themselves, but add nothing to those that matter."""
    needed = {column for entry in found["importance"] if entry["interval"][0] > 0 for column in entry["columns"]}
    left = [column for column in found["related"] if column not in needed]
    return f" {listed(left)} {'goes' if len(left) == 1 else 'go'} with {short(found['name'])} too." if left else ""


def _block(names: list[str]) -> str:
    """A column, or the first of those that say the same and are counted together."""
    like = counted(len(names) - 1, "column")
    return short(names[0], 40) if len(names) == 1 else f"{short(names[0], 30)} (with {like} like it)"


def more_text(found: dict[str, Any], task: Task) -> str:
    """Which model predicts best, and which columns were left out."""
    return (_best(found) if found["tells"] else "") + _unread(task)


def _best(found: dict[str, Any]) -> str:
    first, *others = (entry["model"] for entry in found["models"])
    return f" {first[0].upper()}{first[1:]} predicts best, ahead of {' and '.join(others)}."


def _unread(task: Task) -> str:
    if not task.unread:
        return ""
    one = len(task.unread) == 1
    known = set(task.unread) & set(task.owners)
    but = f" but for whether {'it is' if one else 'they are'} missing" if known else ""
    return f" {listed(task.unread)} {'is' if one else 'are'} left out (text, or an identifier){but}."


def leak_text(leak: dict[str, Any], name: str) -> str:
    """A column that gives the target away, with the figures with and without it."""
    how = ", by whether it is missing" if leak["by"] == "missing" else ""
    start = f"{short(leak['column'])} gives {short(name)} away: alone it"
    end = "If it is known only after, or made from it, leave it out; the figures here do."
    if leak["metric"] == "R2":
        told = (
            f"explains {often(min(leak['alone'], 0.9999))} of the variance{how}; without it the other columns explain"
        )
        return f"{start} {told} {percent(max(leak['without'], 0.0))}. {end}"
    told = f"is right on the rows held back in {often(leak['alone'])}{how}; without it the other columns reach"
    return f"{start} {told} {often(leak['without'])} ({percent(leak['baseline'])} by the most common class). {end}"


def shown_code(study: Study, task: Task, columns: list[str]) -> str:
    """Lines of pandas that show the column that matters most beside the target."""
    by_name = {c.name: c for c in study.prepared.columns}
    first = next((name for name in columns if name in by_name), task.owners[0])
    if task.classes:
        if by_name[first].role == "numeric":
            return f"df.groupby({task.name!r})[{first!r}].describe()"
        return f"pd.crosstab(df[{first!r}], df[{task.name!r}], normalize='index')"
    if by_name[first].role == "numeric":
        return f"df[[{first!r}, {task.name!r}]].corr(method='spearman')"
    return f"df.groupby({first!r})[{task.name!r}].describe()"
