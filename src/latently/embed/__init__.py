"""Maps of points: what is alike lies close together."""

from latently.embed.kernel_pca.kernel_pca import KernelPCA


__all__ = ["KernelPCA"]
