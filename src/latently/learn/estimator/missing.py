"""Missing values where a method cannot take them: the error names what can."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def refuse_missing(who: str) -> Iterator[None]:
    """Add to an error about NaN which of ours takes missing values.

    Examples
    --------
    >>> with refuse_missing("FastICA"):
    ...     raise ValueError("column 'x1' of X contains NaN")
    Traceback (most recent call last):
    ValueError: column 'x1' of X contains NaN. FastICA takes complete rows only: fill them in with
    latently.impute.Imputer, or reduce them with latently.factor.PCA, which takes missing values
    """
    try:
        yield
    except ValueError as problem:
        if "NaN" not in str(problem) or "inf" in str(problem):
            raise
        raise ValueError(
            f"{problem}. {who} takes complete rows only: fill them in with latently.impute.Imputer, or reduce them "
            "with latently.factor.PCA, which takes missing values"
        ) from None
