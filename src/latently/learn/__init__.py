"""Chunks to statistics to parameters: the engine that every model runs on."""

import latently.learn.dask.reduce  # noqa: F401  registers the reduction over Dask collections
from latently.distributions.statistics import Additive
from latently.learn.checkpoint.checkpoint import CheckpointMismatch, CheckpointWarning, checkpointing
from latently.learn.engine.em import Fit, ObjectiveFell, Step, em
from latently.learn.engine.free_energy import free_energy
from latently.learn.engine.protocol import JointModel, LatentModel, Statistics
from latently.learn.engine.reduce import n_threads, reducing, threads
from latently.learn.estimator.stream import StreamRecord, stream
from latently.learn.select.select import Selection, select

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
