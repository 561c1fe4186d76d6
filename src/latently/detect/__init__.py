"""Anomalies: rows that do not belong, and why."""

from latently.detect.combine import CombinedDetector
from latently.detect.density.kernel_density import KernelDensity
from latently.detect.kernel_pca import KernelPCADetector
from latently.detect.model import ModelDetector
from latently.detect.one_class import OneClassSVM
from latently.detect.semi_supervised import SemiSupervisedSVDD
from latently.detect.svdd import SVDD

__all__ = [
    "SVDD", "CombinedDetector", "KernelDensity", "KernelPCADetector", "ModelDetector", "OneClassSVM",
    "SemiSupervisedSVDD",
]  # fmt: skip
