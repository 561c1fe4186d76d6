"""Chunks to statistics to parameters: the engine that every model runs on."""

from tacit.distributions.statistics import Additive
from tacit.learn.em import Fit, ObjectiveFell, Step, em
from tacit.learn.free_energy import free_energy
from tacit.learn.protocol import JointModel, LatentModel, Statistics
from tacit.learn.reduce import n_threads, reducing, threads
from tacit.learn.select import Selection, select

__all__ = [
    "Additive",
    "Fit",
    "JointModel",
    "LatentModel",
    "ObjectiveFell",
    "Selection",
    "Statistics",
    "Step",
    "em",
    "free_energy",
    "n_threads",
    "reducing",
    "select",
    "threads",
]
