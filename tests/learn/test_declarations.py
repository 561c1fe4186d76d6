"""What an estimator declares: parameters with what they may be, and scikit-learn's tags."""

import inspect
from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar, Literal

import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import InvalidParameterError

from latently.checks import all_estimators
from latently.learn.estimator.parameters import CHOICES, COUNT, NON_NEGATIVE, Count, Flag, checked, stores_parameters
from latently.learn.estimator.tags import DeclaredTags


@stores_parameters
class Plain(DeclaredTags, RegressorMixin, BaseEstimator):
    _tags: ClassVar = {"allow_nan": True, "regressor_tags.poor_score": True, "sparse": lambda model: model.width > 1}

    width: Count = 1
    _: KW_ONLY
    tol: Annotated[float, NON_NEGATIVE] = 0.5
    edge: Annotated[Literal["wrap", "drop"] | None, CHOICES, None] = None
    anything: Any = None

    @checked
    def fit(self, X=None, y=None):
        return self


@stores_parameters
class Wider(Plain):
    _tags: ClassVar = {"allow_nan": False}

    _: KW_ONLY
    width: Annotated[int | None, COUNT, None] = None
    loud: Flag = False


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"width": 0}, "width"),
        ({"width": None}, "width"),
        ({"tol": -1.0}, "tol"),
        ({"edge": "crop"}, "edge"),
        ({"edge": 1}, "edge"),
    ],
)
def test_a_parameter_is_checked_by_what_its_type_says(settings, wrong):
    with pytest.raises(InvalidParameterError, match=f"'{wrong}' parameter of Plain"):
        Plain(**settings).fit()


def test_what_is_allowed_passes_and_what_is_not_declared_is_not_looked_at():
    assert Plain(3, tol=0.0, edge="drop", anything=object()).fit().edge == "drop"


def test_a_subclass_has_what_its_bases_declare_and_may_say_otherwise():
    assert Wider(width=None, loud=True).fit().width is None
    for settings in ({"tol": -1.0}, {"loud": "yes"}, {"width": 0}):
        with pytest.raises(InvalidParameterError):
            Wider(**settings).fit()
    with pytest.raises(InvalidParameterError):
        Plain(width=None).fit()


def test_the_signature_has_types_and_nothing_else():
    found = {name: p.annotation for name, p in inspect.signature(Plain).parameters.items()}
    assert found == {"width": int, "tol": float, "edge": Literal["wrap", "drop"] | None, "anything": Any}
    assert clone(Plain(2, tol=1.0)).get_params() == {"width": 2, "tol": 1.0, "edge": None, "anything": None}


def test_tags_are_those_of_the_class_and_of_its_bases():
    one, two = get_tags(Plain()), get_tags(Plain(2))
    assert one.input_tags.allow_nan
    assert one.regressor_tags.poor_score
    assert one.estimator_type == "regressor"
    assert (one.input_tags.sparse, two.input_tags.sparse) == (False, True)
    wider = get_tags(Wider(width=2))
    assert wider.regressor_tags.poor_score
    assert wider.input_tags.sparse
    assert not wider.input_tags.allow_nan


def test_a_tag_that_does_not_exist_is_an_error():
    class Mistaken(DeclaredTags, BaseEstimator):
        _tags: ClassVar = {"regressor_tags.poor_score": True}

    with pytest.raises(AttributeError):
        get_tags(Mistaken())


@pytest.mark.parametrize(("name", "cls"), all_estimators(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_constraint_is_of_a_parameter(name, cls):
    assert set(getattr(cls, "_parameter_constraints", {})) <= set(inspect.signature(cls).parameters)
