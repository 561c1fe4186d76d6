"""Anomalies: rows that do not belong, and why."""

from latently.detect.kernel_density import KernelDensity
from latently.detect.one_class import OneClassSVM
from latently.detect.semi_supervised import SemiSupervisedSVDD
from latently.detect.svdd import SVDD

__all__ = ["SVDD", "KernelDensity", "OneClassSVM", "SemiSupervisedSVDD"]
