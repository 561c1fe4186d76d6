"""Missing values: filled in, with intervals and draws."""

from latently.impute.imputer import Imputer

__all__ = ["Imputer"]
