"""Missing values: filled in, with intervals and draws."""

from tacit.impute.imputer import Imputer

__all__ = ["Imputer"]
