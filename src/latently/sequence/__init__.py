"""Sequences: Markov chains and hidden Markov models."""

from latently.sequence.blend import MixtureOf
from latently.sequence.chain import ImpossibleSequence
from latently.sequence.discrete import CategoricalHMM, PoissonHMM
from latently.sequence.gaussian import GaussianHMM
from latently.sequence.hidden import HiddenMarkovModel
from latently.sequence.markov import MarkovChain
from latently.sequence.mixture import GMMHMM
from latently.sequence.monitor import ConvergenceMonitor

__all__ = [
    "GMMHMM",
    "CategoricalHMM",
    "ConvergenceMonitor",
    "GaussianHMM",
    "HiddenMarkovModel",
    "ImpossibleSequence",
    "MarkovChain",
    "MixtureOf",
    "PoissonHMM",
]
