"""Trees from bracketed strings, nested tuples and objects like NLTK's."""

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

Tree: TypeAlias = list[tuple[Any, list[int]]]
"""Label and children of each node, children before their parents; the root is last."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


def read_tree(item: Any, name: str) -> Tree:
    """Read one tree, whatever it is given as.

    Parameters
    ----------
    item
        A bracketed string, a nested tuple or list (label, child, ...), or an object with a method `label` that gives
        its children when it is iterated over. Children that are neither tuples nor such objects are leaves.
    name
        What to call it in an error.

    Examples
    --------
    >>> read_tree("(N apple)", "x")
    [('apple', []), ('N', [0])]
    >>> read_tree(("N", "apple"), "x") == read_tree("N(apple)", "x")
    True
    """
    return _of_text(item, name) if isinstance(item, str) else _of_object(item, name)


def _of_text(text: str, name: str) -> Tree:
    tree: Tree = []
    open_at: list[int] = []  # places of the brackets that are open
    parts: list[list[Any]] = [[]]  # what each open bracket holds so far: its label, then its children
    bare = not text.lstrip().startswith("(")  # NP(D the)(N apple): the outer brackets are left out
    for match in _TOKEN.finditer(text):
        token, at = match.group(), match.start()
        if token == "(":
            if not parts[-1] and (open_at or bare):
                parts[-1].append("")  # a bracket without a label
            open_at.append(at)
            parts.append([])
        elif token == ")":
            if not open_at:
                raise ValueError(f"{name} has unbalanced brackets: ')' at position {at} closes nothing in {text!r:.60}")
            open_at.pop()
            node = parts.pop()
            parts[-1].append(_add(tree, node, name, at))
        elif not open_at and not bare:
            raise ValueError(f"{name} goes on after the end of its tree, at position {at}: {text!r:.60}")
        else:
            parts[-1].append(token if not parts[-1] else _leaf(tree, token))
    if open_at:
        raise ValueError(f"{name} has unbalanced brackets: '(' at position {open_at[-1]} is not closed in {text!r:.60}")
    if not parts[0]:
        raise ValueError(f"{name} is an empty string, which is no tree")
    if bare:
        _add(tree, parts[0], name, 0)
    elif len(parts[0]) > 1:
        raise ValueError(f"{name} has {len(parts[0])} trees side by side: give them as separate strings")
    return tree


def _leaf(tree: Tree, label: Any) -> int:
    tree.append((label, []))
    return len(tree) - 1


def _add(tree: Tree, node: list[Any], name: str, at: int) -> int:
    if not node:
        raise ValueError(f"{name} has an empty pair of brackets, closed at position {at}")
    tree.append((node[0], node[1:]))
    return len(tree) - 1


def _of_object(item: Any, name: str) -> Tree:
    """By a stack, not by recursion: trees may be deeper than Python's own stack."""
    tree: Tree = []
    label, children = _parts(item, name)
    stack = [(label, iter(children), list[int]())]
    while stack:
        label, rest, done = stack[-1]
        child = next(rest, stack)  # the stack itself says that there is none
        if child is stack:
            tree.append((label, done))
            stack.pop()
            if stack:
                stack[-1][2].append(len(tree) - 1)
        elif _is_node(child):
            below, children = _parts(child, name)
            stack.append((below, iter(children), []))
        else:
            done.append(_leaf(tree, child))
    return tree


def _is_node(item: Any) -> bool:
    return isinstance(item, tuple | list) or callable(getattr(item, "label", None))


def _parts(item: Any, name: str) -> tuple[Any, Iterable[Any]]:
    if callable(getattr(item, "label", None)):  # before lists: NLTK's trees are lists as well
        return item.label(), item
    if not isinstance(item, tuple | list):
        raise TypeError(f"{name} is no tree: a bracketed string, nested tuples or NLTK's are, not {item!r:.40}")
    if not item or _is_node(item[0]):
        raise ValueError(f"{name} has a node without a label: a node is (label, child, ...), got {item!r:.40}")
    return item[0], item[1:]
