"""Logical expressions over named propositions: read from text, evaluated over many worlds at once.

From loose to tight: `iff` (`<->`), `implies` (`->`), `or` (`|`), `xor` (`^`), `and` (`&`), `not` (`~`, `!`);
parentheses; `true` and `false`. Names are words, or anything between double quotes. A belief may add one
`given`: "rain given cold". The bar means "or", never "given".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bools: TypeAlias = NDArray[np.bool_]
Tokens: TypeAlias = list[tuple[str, str]]

_TOKEN = re.compile(r'\s*(?:(<->|->|=>|\|\||&&|[()&|^~!∧∨¬])|"([^"]+)"|([^\W\d]\w*))')
_WORDS = {
    "and": "&", "or": "|", "xor": "^", "not": "~", "implies": "->", "iff": "<->",
    "∧": "&", "∨": "|", "¬": "~", "!": "~", "=>": "->", "&&": "&", "||": "|",
}  # fmt: skip
_LEVELS = ("<->", "->", "|", "^", "&")  # loosest first


@dataclass(frozen=True)
class Expression:
    """A node: a proposition, a constant, or an operator on further expressions."""

    kind: str  # "name", "true", "~", "&", "|", "^", "<->"
    name: str = ""
    parts: tuple["Expression", ...] = ()

    def names(self) -> Iterator[str]:
        """Give the propositions in it, as often as they occur."""
        if self.kind == "name":
            yield self.name
        for part in self.parts:
            yield from part.names()

    def holds(self, worlds: Mapping[str, Bools]) -> Bools:
        """Tell in which worlds it is true, given where each proposition is."""
        if self.kind == "name":
            return worlds[self.name]
        if self.kind == "true":
            return np.ones(np.shape(next(iter(worlds.values()))) if worlds else (1,), dtype=bool)
        values = [part.holds(worlds) for part in self.parts]
        if self.kind == "~":
            return ~values[0]
        return _OPERATORS[self.kind](*values)


_OPERATORS = {"&": np.logical_and, "|": np.logical_or, "^": np.logical_xor, "<->": np.equal}
TRUE = Expression("true")


def negation(part: Expression) -> Expression:
    """Give `not part`."""
    return Expression("~", parts=(part,))


def both(left: Expression, right: Expression) -> Expression:
    """Give `left and right`, without saying "and true"."""
    if right == TRUE:
        return left
    return right if left == TRUE else Expression("&", parts=(left, right))


def parse(text: str) -> Expression:
    """Read an expression.

    Examples
    --------
    >>> sorted(set(parse('rain & (not cold -> "a new day")').names()))
    ['a new day', 'cold', 'rain']
    """
    tokens = _tokens(text)
    tree, rest = _operators(tokens, 0, text)
    if rest:
        raise ValueError(f"cannot read {text!r}: {rest[0][1]!r} is not expected there")
    return tree


def parse_belief(text: str) -> tuple[Expression, Expression]:
    """Read "event" or "event given condition" into the two expressions; no condition is `true`."""
    pieces = re.split(r'\bgiven\b(?=(?:[^"]*"[^"]*")*[^"]*$)', text)
    if len(pieces) > 2:
        raise ValueError(f"cannot read {text!r}: a belief has at most one 'given'")
    return parse(pieces[0]), parse(pieces[1]) if len(pieces) == 2 else TRUE


def _tokens(text: str) -> Tokens:
    """Cut the text into ("op", symbol) and ("name", word) pairs."""
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"cannot read {text!r} from {text[at:].strip()!r} on: use double quotes")
        symbol, quoted, word = match.groups()
        at = match.end()
        if quoted:
            found.append(("name", quoted))
        elif word and word.lower() not in _WORDS:
            found.append(("name", word))
        else:
            plain = symbol or word.lower()
            found.append(("op", _WORDS.get(plain, plain)))
    return found


def _operators(tokens: Tokens, level: int, text: str) -> tuple[Expression, Tokens]:
    if level == len(_LEVELS):
        return _atom(tokens, text)
    left, rest = _operators(tokens, level + 1, text)
    symbol = _LEVELS[level]
    while rest and rest[0] == ("op", symbol):
        # "a -> b -> c" means "a -> (b -> c)"; the others are read from the left
        right, rest = _operators(rest[1:], level if symbol == "->" else level + 1, text)
        kind, first = ("|", negation(left)) if symbol == "->" else (symbol, left)
        left = Expression(kind, parts=(first, right))
    return left, rest


def _atom(tokens: Tokens, text: str) -> tuple[Expression, Tokens]:
    if not tokens:
        raise ValueError(f"cannot read {text!r}: it ends where a proposition is expected")
    (kind, word), rest = tokens[0], tokens[1:]
    if kind == "name":
        constant = {"true": TRUE, "false": negation(TRUE)}.get(word.lower())
        return constant or Expression("name", word), rest
    if word == "~":
        inner, rest = _atom(rest, text)
        return negation(inner), rest
    if word == "(":
        inner, rest = _operators(rest, 0, text)
        if not rest or rest[0] != ("op", ")"):
            raise ValueError(f"cannot read {text!r}: a parenthesis is not closed")
        return inner, rest[1:]
    raise ValueError(f"cannot read {text!r}: {word!r} is not expected there")
