"""Sequences: Markov chains and hidden Markov models."""

from tacit.sequence.blend import MixtureOf
from tacit.sequence.chain import ImpossibleSequence
from tacit.sequence.discrete import CategoricalHMM, PoissonHMM
from tacit.sequence.gaussian import GaussianHMM
from tacit.sequence.hidden import HiddenMarkovModel
from tacit.sequence.markov import MarkovChain
from tacit.sequence.mixture import GMMHMM
from tacit.sequence.monitor import ConvergenceMonitor

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
