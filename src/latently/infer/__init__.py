"""Inference: joints under the sum and product rules, posteriors and their summaries."""

from latently.infer.joint.conditional import Conditional
from latently.infer.joint.joint import Joint
from latently.infer.posterior.diagnostics import effective_sample_size, r_hat
from latently.infer.posterior.grid import PosteriorWarning
from latently.infer.posterior.posterior import Posterior

__all__ = ["Conditional", "Joint", "Posterior", "PosteriorWarning", "effective_sample_size", "r_hat"]
