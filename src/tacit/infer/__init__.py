"""The inference room: joints under the sum and product rules, posteriors and their summaries."""

from tacit.infer.conditional import Conditional
from tacit.infer.diagnostics import effective_sample_size, r_hat
from tacit.infer.grid import PosteriorWarning
from tacit.infer.joint import Joint
from tacit.infer.posterior import Posterior

__all__ = ["Conditional", "Joint", "Posterior", "PosteriorWarning", "effective_sample_size", "r_hat"]
