"""Fitted models as ONNX graphs, for programs that have no Python."""

from latently.persist.onnx.export import to_onnx

__all__ = ["to_onnx"]
