"""Every detector, with its default settings: what the benchmarks of detectors go through."""

from latently.detect import (
    SVDD,
    CombinedDetector,
    KernelDensity,
    KernelPCADetector,
    ModelDetector,
    OneClassSVM,
    SemiSupervisedSVDD,
)

DETECTORS = {
    "KernelDensity": lambda: KernelDensity(bandwidth="rule"),
    "ModelDetector": ModelDetector,
    "KernelPCADetector": KernelPCADetector,
    "OneClassSVM": OneClassSVM,
    "SVDD": SVDD,
    "SemiSupervisedSVDD": SemiSupervisedSVDD,
    "CombinedDetector": CombinedDetector,
}
