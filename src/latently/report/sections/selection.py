"""The choice of the model: what was chosen over what."""

from typing import Any

from latently.report.study.study import Study
from latently.report.study.words import counted, number


def selection(study: Study) -> dict[str, Any]:
    """Tell which models were compared and which was taken.

    Parameters
    ----------
    study
        The table and its model.
    """
    fitted, _, _ = study.model()
    chosen = fitted.chosen
    others = sorted((line for line in fitted.table if not line["chosen"]), key=lambda line: line["criterion"])
    text = f"A mixture of {_name(chosen)} describes the table best by the Bayesian information criterion"
    if others:
        ahead = others[0]["criterion"] - chosen["criterion"]
        text += f", {number(ahead)} ahead of {_name(others[0])}, and of {counted(len(others) - 1, 'other model')}"
    return {
        "criterion": "bic",
        "chosen": _name(chosen),
        "text": text + ".",
        "table": [{k: line[k] for k in _FIELDS} for line in fitted.table],
    }


_FIELDS = ("model", "components", "criterion", "log_likelihood", "parameters", "chosen")


def _name(line: dict[str, Any]) -> str:
    return f"{counted(line['components'], 'component')} with {line['model']}"
