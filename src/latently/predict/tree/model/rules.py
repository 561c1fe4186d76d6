"""Trees as rules that can be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.data.tables import frames
from latently.data.tables.values import quote
from latently.predict.tree.model.answers import paths_of
from latently.predict.tree.model.nodes import GROUPS, THRESHOLD, Nodes

Array = NDArray[np.float64]
_MOST_NAMED = 6


@dataclass(frozen=True, eq=False)
class Words:
    """What columns, categories and classes are called."""

    columns: Sequence[str]
    categories: Sequence[Sequence[Any]] | None
    classes: Any

    def category(self, feature: int, code: int) -> str:
        """Name of a category."""
        if self.categories is None or code >= len(self.categories[feature]):
            return "missing"
        return str(self.categories[feature][code])

    def answer(self, value: Array) -> Any:
        """The class of the highest share, or the mean."""
        if self.classes is not None and value.shape[0] == 1:
            return self.classes[int(value[0].argmax())]
        answers = value.argmax(axis=1) if value.shape[1] > 1 else value[:, 0]
        return answers.tolist()[0] if len(answers) == 1 else answers.tolist()


@dataclass(frozen=True)
class Step:
    """One step on the way of a row.

    Attributes
    ----------
    condition
        What holds from here on.
    column
        The column it is about; None for the root.
    weight
        Weight of the rows of the fit that came so far.
    samples
        Their number.
    answer
        What a leaf here would say.
    value
        Shares of the classes, or the mean.
    gain
        What the split that led here took from the impurity of the node above.
    """

    condition: str
    column: str | None
    weight: float
    samples: int
    answer: Any
    value: tuple[float, ...]
    gain: float


@dataclass(frozen=True)
class Explanation:
    """Why a tree says what it says about a row; `str` of it is the rule.

    Attributes
    ----------
    steps
        From the root to the leaf.
    """

    steps: tuple[Step, ...]

    @property
    def answer(self) -> Any:
        """What the tree says."""
        return self.steps[-1].answer

    def __str__(self) -> str:
        conditions = [step.condition for step in self.steps[1:]]
        lines = [f"{self.answer}, since" if conditions else f"{self.answer} for every row"]
        for step in self.steps[1:]:
            evidence = ", ".join(f"{v:.3g}" for v in step.value)
            lines.append(f"  {step.condition}: {evidence} of {step.samples} rows")
        return "\n".join(lines)


@dataclass(frozen=True)
class Rule:
    """What a leaf says, and for which rows; `str` of it can be read.

    Attributes
    ----------
    conditions
        All of which hold.
    answer
        What the leaf says.
    value
        Shares of the classes, or the mean.
    samples, weight
        Rows of the fit that came here.
    """

    conditions: tuple[str, ...]
    answer: Any
    value: tuple[float, ...]
    samples: int
    weight: float

    def __str__(self) -> str:
        when = " and ".join(self.conditions) if self.conditions else "always"
        return f"{when}: {self.answer}"


def one_row(x: Any, names: Sequence[str]) -> Any:
    """Give one row as a table."""
    if frames.is_frame(x):
        if frames.row_count(x) != 1:
            raise ValueError(f"explain is about one row, got {frames.row_count(x)}")
        return x
    if isinstance(x, Mapping):
        unknown = [name for name in names if name not in x]
        if unknown:
            raise ValueError(f"column {quote(unknown)} is not in the row")
        return np.array([[x[name] for name in names]], dtype=object)
    row = np.asarray(x, dtype=object)
    row = row if row.ndim == 2 else row.reshape(1, -1)
    if len(row) != 1:
        raise ValueError(f"explain is about one row, got {len(row)}")
    return row if any(isinstance(v, str) or v is None for v in row.ravel()) else row.astype(np.float64)


def condition(nodes: Nodes, node: int, place: int, words: Words) -> str:
    """What holds for rows that go from a node to one of its children."""
    f = int(nodes.feature[node])
    name = words.columns[f]
    if nodes.kind[node] == THRESHOLD:
        if np.isinf(nodes.threshold[node]):
            return f"{name} is known" if place == 0 else f"{name} is missing"
        sign = "<=" if place == 0 else ">"
        return f"{name} {sign} {nodes.threshold[node]:.6g}"
    if nodes.kind[node] == GROUPS:
        start = nodes.list_start[node]
        codes = nodes.lists[start : start + nodes.list_len[node]]
        named = ", ".join(words.category(f, int(c)) for c in codes[:_MOST_NAMED])
        more = f" and {len(codes) - _MOST_NAMED} more" if len(codes) > _MOST_NAMED else ""
        inside = place != nodes.missing[node]
        return f"{name} in {{{named}{more}}}" if inside else f"{name} not in {{{named}{more}}}"
    return f"{name} = {words.category(f, place)}"


def explained(nodes: Nodes, row: Array, words: Words) -> Explanation:
    """The way of one row from the root to its leaf."""
    path = sorted(paths_of(nodes, row).indices.tolist())
    gains = nodes.gains() * nodes.weight[0]
    steps = [_step(nodes, path[0], "all rows", None, 0.0, words)]
    for above, node in pairwise(path):
        name = words.columns[int(nodes.feature[above])]
        text = condition(nodes, above, node - int(nodes.first[above]), words)
        if np.isnan(row[0, nodes.feature[above]]) and "missing" not in text:
            text = f"{text} (taken: {name} is missing)"
        gain = float(gains[above] / max(nodes.weight[above], 1e-300))
        steps.append(_step(nodes, node, text, name, gain, words))
    return Explanation(tuple(steps))


def _step(nodes: Nodes, node: int, text: str, column: str | None, gain: float, words: Words) -> Step:
    value = nodes.value[node]
    flat = tuple(float(v) for v in value.ravel())
    return Step(text, column, float(nodes.weight[node]), int(nodes.samples[node]), words.answer(value), flat, gain)


def all_rules(nodes: Nodes, words: Words) -> list[Rule]:
    """One rule for each leaf that has rows."""
    found: list[Rule] = []
    stack: list[tuple[int, tuple[tuple[int, int], ...]]] = [(0, ())]
    while stack:
        node, way = stack.pop()
        if nodes.is_leaf[node]:
            if nodes.weight[node] > 0:
                conditions = _joined(nodes, way, words)
                value = nodes.value[node]
                flat = tuple(float(v) for v in value.ravel())
                evidence = (int(nodes.samples[node]), float(nodes.weight[node]))
                found.append(Rule(conditions, words.answer(value), flat, *evidence))
            continue
        children = enumerate(nodes.children(node))
        stack.extend(reversed([(child, (*way, (node, place))) for place, child in children]))
    return found


def _joined(nodes: Nodes, way: Sequence[tuple[int, int]], words: Words) -> tuple[str, ...]:
    """Conditions on a way; of thresholds of one column only the narrowest ones are said."""
    narrowest: dict[tuple[int, int], tuple[int, int]] = {}
    out: list[tuple[int, int]] = []
    for node, place in way:
        if nodes.kind[node] != THRESHOLD:
            out.append((node, place))
            continue
        key = (int(nodes.feature[node]), place)
        if key in narrowest:
            out.remove(narrowest[key])
        narrowest[key] = (node, place)
        out.append((node, place))
    return tuple(condition(nodes, node, place, words) for node, place in out)


def as_frame(found: Sequence[Rule]) -> Any:
    """Rules as a pandas frame."""
    pd: Any = import_module("pandas")

    return pd.DataFrame(
        {
            "rule": [" and ".join(rule.conditions) if rule.conditions else "always" for rule in found],
            "answer": [rule.answer for rule in found],
            "value": [rule.value for rule in found],
            "samples": [rule.samples for rule in found],
            "weight": [rule.weight for rule in found],
        }
    )
