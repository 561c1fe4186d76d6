"""The inference room: joints under the sum and product rules, posteriors and their summaries."""

from latently.infer.conditional import Conditional
from latently.infer.diagnostics import effective_sample_size, r_hat
from latently.infer.grid import PosteriorWarning
from latently.infer.joint import Joint
from latently.infer.posterior import Posterior

__all__ = ["Conditional", "Joint", "Posterior", "PosteriorWarning", "effective_sample_size", "r_hat"]
