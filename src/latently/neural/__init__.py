"""Neural models on PyTorch: representations, densities, graphs and energies. Needs the extra `neural`."""

import importlib.util

if importlib.util.find_spec("torch") is None:
    raise ModuleNotFoundError(
        "latently.neural needs PyTorch, which is not installed: pip install 'latently[neural]'", name="torch"
    )

from latently.neural.autoencoder import Autoencoder
from latently.neural.conditional_rbm import ConditionalRBM
from latently.neural.contrastive_generator import ContrastiveGenerator
from latently.neural.conv_autoencoder import ConvAutoencoder
from latently.neural.conv_net_classifier import ConvNetClassifier
from latently.neural.domain_adversarial import DomainAdversarialClassifier
from latently.neural.graph_conv_classifier import GraphConvClassifier
from latently.neural.mixture_density import MixtureDensityNetwork
from latently.neural.normalizing_flow import NormalizingFlow
from latently.neural.pretext_encoder import PretextEncoder

__all__ = [
    "Autoencoder",
    "ConditionalRBM",
    "ContrastiveGenerator",
    "ConvAutoencoder",
    "ConvNetClassifier",
    "DomainAdversarialClassifier",
    "GraphConvClassifier",
    "MixtureDensityNetwork",
    "NormalizingFlow",
    "PretextEncoder",
]
