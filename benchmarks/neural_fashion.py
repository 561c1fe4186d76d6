"""Fashion-MNIST, from the files of the Debian package dataset-fashion-mnist: two parts of `benchmarks.neural`."""

import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.neural_intervals import above_zero, interval, report
from latently.neural import ConvNetClassifier, PretextEncoder

N_UNLABELLED, N_LABELLED, N_NEW = 5000, 150, 3000
TASKS = ("inpainting", "transformation", "rotation", "jigsaw")


def read_idx(path: Path) -> Any:
    """An array from a file of the MNIST format."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    shape = np.frombuffer(raw, dtype=">i4", count=raw[3], offset=4)
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def images_of(folder: str) -> dict[str, tuple[Any, Any]]:
    """Images and labels of both parts."""
    parts = {}
    for part in ("train", "t10k"):
        images, labels = (sorted(Path(folder).glob(f"{part}-{kind}*"))[0] for kind in ("images", "labels"))
        parts[part] = read_idx(images) / 255.0, read_idx(labels).astype(int)
    return parts


def fashion(options: Any) -> bool:
    """The default classifier: accuracy and minutes."""
    parts = images_of(options.folder)
    images, labels = (part[: options.images] for part in parts["train"])
    begin, cpu = time.perf_counter(), time.process_time()
    model = ConvNetClassifier(random_state=0, verbose=1).fit(images, labels)
    minutes, cpu = (time.perf_counter() - begin) / 60, (time.process_time() - cpu) / 60
    accuracy = model.score(*parts["t10k"])
    print(
        f"Fashion-MNIST, {len(images)} images: accuracy {accuracy:.4f} after {model.n_iter_} epochs ({model.reason_}), "
        f"{minutes:.1f} minutes, {cpu:.1f} of CPU time"
    )
    return report({"at least 0.90": accuracy >= 0.90, "under 10 minutes": minutes < 10})


def pretext(options: Any) -> bool:
    """Features learnt without labels, then a linear head on few: beside the untrained encoder and raw pixels."""
    images, labels = images_of(options.folder)["train"]
    gains: dict[str, list[tuple[float, float]]] = {}
    for seed in options.seeds:
        some = np.random.default_rng(seed).permutation(len(labels))[: N_UNLABELLED + N_NEW]
        for task in TASKS:
            gains.setdefault(task, []).append(_gains(images[some], labels[some], task, seed))
    goals = {}
    for task, each in gains.items():
        over_untrained, over_pixels = np.array(each).T
        if len(each) > 1:
            print(f"{task:<15} over the untrained encoder {interval(over_untrained)}, pixels {interval(over_pixels)}")
            goals[f"{task} beats raw pixels"] = above_zero(over_pixels)
    return report(goals)


def _gains(images: Any, labels: Any, task: str, seed: int) -> tuple[float, float]:
    """Gains in accuracy over the untrained encoder and over raw pixels."""
    begin = time.process_time()
    encoder = PretextEncoder(64, task=task, random_state=seed).fit(images[:N_UNLABELLED])
    seconds = time.process_time() - begin
    untrained = PretextEncoder(64, task=task, random_state=seed, max_iter=0).fit(images[:N_UNLABELLED])
    features = encoder.transform(images), untrained.transform(images), images.reshape(len(images), -1)
    learnt, before, pixels = (_linear(each, labels) for each in features)
    print(
        f"{task:<15} seed {seed}  learnt {learnt:.3f}  untrained {before:.3f}  pixels {pixels:.3f}  "
        f"{encoder.n_iter_} epochs, {seconds:.0f} s CPU",
        flush=True,
    )
    return learnt - before, learnt - pixels


def _linear(features: Any, labels: Any) -> float:
    """Accuracy on new images of a linear head that has seen few labels."""
    scale = features[:N_LABELLED].std() + 1e-12
    head = LogisticRegression(max_iter=5000).fit(features[:N_LABELLED] / scale, labels[:N_LABELLED])
    return float(head.score(features[N_UNLABELLED:] / scale, labels[N_UNLABELLED:]))
