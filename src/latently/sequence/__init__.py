"""Sequences: Markov chains and hidden Markov models."""

from latently.sequence.emissions.mixture_of import MixtureOf
from latently.sequence.hidden_markov_model import HiddenMarkovModel
from latently.sequence.hmm.discrete import CategoricalHMM, PoissonHMM
from latently.sequence.hmm.gaussian import GaussianHMM
from latently.sequence.hmm.gaussian_mixture import GMMHMM
from latently.sequence.hmm.monitor import ConvergenceMonitor
from latently.sequence.inference.chain import ImpossibleSequence
from latently.sequence.markov.chain import MarkovChain

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
