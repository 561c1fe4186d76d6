"""Models of sequences among the models that fill missing values: they want to know how long each sequence is."""

from inspect import signature
from typing import Any


def lengths_for(model: Any, lengths: Any, y: Any = None) -> dict[str, Any]:
    """Give what a model's methods are to be called with besides the table.

    Parameters
    ----------
    model
        The model, or None.
    lengths
        Length of each sequence, or None.
    y
        What came in the place of a target: for a model of sequences another way to give their lengths.
    """
    if model is None or "lengths" not in signature(model.fit).parameters:
        if lengths is not None:
            raise ValueError("lengths are for a model of sequences, such as latently.sequence.GaussianHMM")
        return {}
    return {"lengths": y if lengths is None else lengths}
