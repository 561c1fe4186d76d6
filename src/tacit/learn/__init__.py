"""Chunks to statistics to parameters: the engine that every model runs on."""

from tacit.distributions.statistics import Additive
from tacit.learn.checkpoint import CheckpointMismatch, CheckpointWarning, checkpointing
from tacit.learn.em import Fit, ObjectiveFell, Step, em
from tacit.learn.free_energy import free_energy
from tacit.learn.protocol import JointModel, LatentModel, Statistics
from tacit.learn.reduce import n_threads, reducing, threads
from tacit.learn.select import Selection, select
from tacit.learn.stream import StreamRecord, stream

__all__ = [
    "Additive",
    "CheckpointMismatch",
    "CheckpointWarning",
    "Fit",
    "JointModel",
    "LatentModel",
    "ObjectiveFell",
    "Selection",
    "Statistics",
    "Step",
    "StreamRecord",
    "checkpointing",
    "em",
    "free_energy",
    "n_threads",
    "reducing",
    "select",
    "stream",
    "threads",
]
