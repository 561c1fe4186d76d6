"""What scikit-learn asks of an estimator before it hands it data: declared by its class."""

from collections.abc import Mapping
from typing import Any, ClassVar


class DeclaredTags:
    """Base of estimators that declare their tags; it stands before those mixins of scikit-learn that set the same.

    `_tags` maps names of tags of the input, or dotted names of others, to values, or to functions of the estimator
    that give them. A class says only in what it differs from its bases.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator, RegressorMixin
    >>> class Patient(DeclaredTags, RegressorMixin, BaseEstimator):
    ...     _tags = {"allow_nan": True, "regressor_tags.poor_score": True}
    >>> tags = Patient().__sklearn_tags__()
    >>> tags.input_tags.allow_nan, tags.regressor_tags.poor_score
    (True, True)
    """

    _tags: ClassVar[Mapping[str, Any]] = {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        for kind in reversed(type(self).__mro__):
            for name, value in vars(kind).get("_tags", {}).items():
                group, _, tag = name.rpartition(".")
                setattr(getattr(tags, group or "input_tags"), tag, value(self) if callable(value) else value)
        return tags
