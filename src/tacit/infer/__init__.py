"""The inference room: joints under the sum and product rules, posteriors and their summaries."""

from tacit.infer.conditional import Conditional
from tacit.infer.joint import Joint

__all__ = ["Conditional", "Joint"]
