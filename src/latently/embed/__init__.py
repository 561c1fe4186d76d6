"""Maps of points: what is alike lies close together."""

from latently.embed.isomap import Isomap
from latently.embed.kernel_pca.kernel_pca import KernelPCA
from latently.embed.lle.lle import LocallyLinearEmbedding, locally_linear_embedding
from latently.embed.mds.classical import ClassicalMDS
from latently.embed.mds.mds import MDS
from latently.embed.mds.sammon import SammonMapping
from latently.embed.mds.smacof import smacof
from latently.embed.multiple_maps.multiple_maps import MultipleMapsTSNE
from latently.embed.pseudo_euclidean import PseudoEuclidean
from latently.embed.quality import MapQuality, map_quality
from latently.embed.relevant_dimension import RelevantDimension, relevant_dimension
from latently.embed.tsne.sne import SNE
from latently.embed.tsne.tsne import TSNE

__all__ = [
    "MDS",
    "SNE",
    "TSNE",
    "ClassicalMDS",
    "Isomap",
    "KernelPCA",
    "LocallyLinearEmbedding",
    "MapQuality",
    "MultipleMapsTSNE",
    "PseudoEuclidean",
    "RelevantDimension",
    "SammonMapping",
    "locally_linear_embedding",
    "map_quality",
    "relevant_dimension",
    "smacof",
]
