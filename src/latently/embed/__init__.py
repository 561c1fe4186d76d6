"""Maps of points: what is alike lies close together."""

from latently.embed.kernel_pca.kernel_pca import KernelPCA
from latently.embed.tsne.tsne import TSNE

__all__ = ["TSNE", "KernelPCA"]
