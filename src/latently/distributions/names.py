"""Families by name: "von_mises" is `VonMises()`."""

import re
from functools import cache

from latently.distributions.family import Family

WORDS = {"counts": "poisson", "binary": "bernoulli", "ordinal": "categorical"}
"""What columns are called, for families that are called otherwise."""


def family_named(name: str) -> Family:
    """Give the template of a family by its name in small letters, or by what its columns are called.

    Every public family that needs no more than data has a name: that of its class, ``NegativeBinomial`` being
    "negative_binomial". "counts" is a Poisson, "binary" a Bernoulli, "ordinal" a Categorical.

    Examples
    --------
    >>> family_named("counts")
    Poisson(rate=None)
    """
    known = families()
    if name not in known and name not in WORDS:
        raise ValueError(f"there is no family {name!r}: known are {', '.join(sorted([*known, *WORDS]))}")
    return known[WORDS.get(name, name)]


@cache
def families() -> dict[str, Family]:
    """Templates of all public families that can be made without arguments, by name."""
    import latently.distributions as package  # when asked, since the package imports its families first

    found: dict[str, Family] = {}
    for public in package.__all__:
        cls = getattr(package, public)
        if isinstance(cls, type) and issubclass(cls, Family) and not getattr(cls, "__abstractmethods__", None):
            try:
                found[re.sub(r"(?<!^)(?=[A-Z])", "_", public).lower()] = cls()
            except TypeError:  # made of others: a product, a mixture
                continue
    return found
