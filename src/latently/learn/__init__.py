"""Chunks to statistics to parameters: the engine that every model runs on."""

from latently.distributions.statistics import Additive
from latently.learn.checkpoint import CheckpointMismatch, CheckpointWarning, checkpointing
from latently.learn.em import Fit, ObjectiveFell, Step, em
from latently.learn.free_energy import free_energy
from latently.learn.protocol import JointModel, LatentModel, Statistics
from latently.learn.reduce import n_threads, reducing, threads
from latently.learn.select import Selection, select
from latently.learn.stream import StreamRecord, stream

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
