"""Structured output: sequences, trees, graphs, sets of labels, and outputs of your own."""

from latently.structure.crf import ConditionalRandomField
from latently.structure.models.chain import ChainModel
from latently.structure.models.graph import GraphModel
from latently.structure.models.multiclass import MulticlassModel
from latently.structure.models.multilabel import MultilabelModel
from latently.structure.models.tree import TreeModel
from latently.structure.svm import StructuredSVM
from latently.structure.tokens import TokenFeatures

__all__ = [
    "ChainModel", "ConditionalRandomField", "GraphModel", "MulticlassModel", "MultilabelModel", "StructuredSVM",
    "TokenFeatures", "TreeModel",
]  # fmt: skip
