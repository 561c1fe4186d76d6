"""Maps of points: what is alike lies close together."""

from latently.embed.kernel_pca.kernel_pca import KernelPCA
from latently.embed.multiple_maps.multiple_maps import MultipleMapsTSNE
from latently.embed.quality import MapQuality, map_quality
from latently.embed.tsne.sne import SNE
from latently.embed.tsne.tsne import TSNE

__all__ = ["SNE", "TSNE", "KernelPCA", "MapQuality", "MultipleMapsTSNE", "map_quality"]
