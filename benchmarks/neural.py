"""Neural models beside their peers and baselines, on data from packages.

    python -m benchmarks.neural PART

of the parts flows, densities, adapt, denoise, pretext, graphs, tables, energies, fashion, fashion_pretext.

`fashion` is the default classifier on 60,000 images (--images for fewer): it needs the files of the Debian package
dataset-fashion-mnist (--folder) and takes minutes. `graphs` needs the MUTAG
files of grakel. Each prints a table and its goals, and ends with 1 if a goal is missed.
"""

import argparse
import sys
import time
from typing import Any

import numpy as np
import torch
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from benchmarks import neural_energies, neural_fashion, neural_graphs, neural_tables
from benchmarks.neural_energies import flow_tables
from benchmarks.neural_intervals import above_zero, interval, report
from latently.cluster import GaussianMixture
from latently.neural import (
    Autoencoder,
    DomainAdversarialClassifier,
    MixtureDensityNetwork,
    NormalizingFlow,
    PretextEncoder,
)

SEEDS = range(5)


# flows


def zuko_score(train: Any, test: Any, seed: int) -> Any:
    """Log-likelihoods of a neural spline flow of zuko's, of the same size, trained by our loop."""
    import zuko

    from latently.neural.training.loop import Settings
    from latently.neural.training.loop import train as run
    from latently.neural.training.session import session
    from latently.neural.training.split import split
    from latently.neural.training.task import Task, TensorRows

    mean, sd = train.mean(axis=0), train.std(axis=0)
    rows = TensorRows((torch.tensor((train - mean) / sd, dtype=torch.float32),))
    fitted, held_out = map(torch.from_numpy, split(len(train), 0.1, np.random.RandomState(seed)))
    with session(seed=seed):
        flow = zuko.flows.NSF(train.shape[1], 0, transforms=4, hidden_features=(64, 64), bins=8)
        task = Task.single(flow, lambda batch: -flow().log_prob(batch[0]).mean())
        run(task, rows, fitted, held_out, Settings(500, min(max(len(fitted) // 16, 32), 256), 1e-3))
        with torch.no_grad():
            logs = flow().log_prob(torch.tensor((test - mean) / sd, dtype=torch.float32)).numpy()
    return logs.astype(float) - np.log(sd).sum()


def integral(model: Any, mixture: Any, train: Any) -> float:
    """Of the density: on a grid in two dimensions, by draws from a mixture in more."""
    if train.shape[1] > 2:
        draws = mixture.sample(200_000)[0]
        return float(np.exp(model.score_samples(draws) - mixture.score_samples(draws)).mean())
    axes = [
        np.linspace(low - 1.5, high + 1.5, 500) for low, high in zip(train.min(axis=0), train.max(axis=0), strict=True)
    ]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    return float(np.exp(model.score_samples(grid)).sum() * np.prod([axis[1] - axis[0] for axis in axes]))


def flows(options: Any) -> bool:
    goals = {}
    for seed in options.seeds:
        for name, (train, test) in flow_tables(options.rows, seed).items():
            goals.update(_flow(f"{name}, seed {seed}", train, test, seed))
    return report(goals)


def _flow(name: str, train: Any, test: Any, seed: int) -> dict[str, bool]:
    mixtures = [GaussianMixture(k, random_state=seed, max_iter=1000).fit(train) for k in range(1, 31)]
    best = min(mixtures, key=lambda mixture: mixture.bic(train))
    begin = time.process_time()
    model = NormalizingFlow(random_state=seed).fit(train)
    seconds = time.process_time() - begin
    ours, theirs, mixture = model.score_samples(test), zuko_score(train, test, seed), best.score_samples(test)
    error, slack = (float((ours - other).std() / np.sqrt(len(test))) for other in (theirs, mixture))
    back = np.abs(model.inverse_transform(model.transform(test)) - test).max()
    whole = integral(model, best, train)
    print(
        f"{name:<24} n {len(train)}  flow {ours.mean():.4f}  zuko {theirs.mean():.4f} +- {error:.4f}  mixture of "
        f"{best.n_components} {mixture.mean():.4f} +- {slack:.4f}  {model.n_iter_} epochs {seconds:.0f} s CPU  "
        f"inverse {back:.1e}  integral {whole:.4f}",
        flush=True,
    )
    return {
        f"{name}: at least the mixture, to 1e-4 and two standard errors": ours.mean()
        > mixture.mean() - 1e-4 - 2 * slack,
        f"{name}: zuko's, to two standard errors": ours.mean() > theirs.mean() - 2 * error,
        f"{name}: inverse to 1e-5": bool(back < 1e-5),
        f"{name}: integral within 1 %": abs(whole - 1) < 0.01,
    }


# mixture density networks


def densities(options: Any) -> bool:
    from scipy.stats import norm

    def sinusoid(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        y = rng.uniform(0, 1, size=1000)
        return (y + 0.3 * np.sin(2 * np.pi * y) + rng.normal(scale=0.05, size=1000))[:, None], y

    gains, gaps = [], []
    for seed in SEEDS:
        (x, y), (new_x, new_y) = sinusoid(seed), sinusoid(100 + seed)
        model = MixtureDensityNetwork(5, random_state=seed).fit(x, y)
        slope, level = np.polyfit(x[:, 0], y, 1)
        spread = (y - slope * x[:, 0] - level).std()
        gauss = norm(slope * new_x[:, 0] + level, spread).logpdf(new_y)
        gains.append(model.score_samples(new_x, new_y).mean() - gauss.mean())
        levels = np.linspace(0.05, 0.95, 19)
        gaps.append(np.abs((new_y[:, None] <= model.quantiles(new_x, levels)).mean(axis=0) - levels).max())
    print(f"inverse sinusoid: nats over Gaussian regression {interval(gains)}, quantile error {interval(gaps)}")
    return report({"well above a Gaussian regression": min(gains) > 0.5, "quantiles within 0.06": max(gaps) < 0.06})


# second domains, noise, pretext tasks


def turned(images: Any, degrees: float) -> Any:
    from scipy.ndimage import rotate

    return np.array([rotate(image, degrees, reshape=False, order=1) for image in images])


def adapt(options: Any) -> bool:
    images, labels = datasets.load_digits(return_X_y=True)[0].reshape(-1, 8, 8), datasets.load_digits().target
    rng = np.random.default_rng(0)
    domains = {
        "rotated by 30 degrees": turned(images, 30.0),
        "noisy": np.clip(images + 5 * rng.normal(size=images.shape), 0, 16),
        "shifted by a pixel": np.roll(images, 1, axis=2),
    }
    goals = {}
    for name, other in domains.items():
        gains: dict[str, list[float]] = {"wasserstein": [], "reversal": []}
        for seed in SEEDS:
            left, right = train_test_split(np.arange(len(labels)), test_size=0.5, random_state=seed)
            source, target = images[left].reshape(-1, 64), other[right].reshape(-1, 64)
            plain = (
                DomainAdversarialClassifier(random_state=seed).fit(source, labels[left]).score(target, labels[right])
            )
            for critic, found in gains.items():
                model = DomainAdversarialClassifier(critic=critic, random_state=seed).fit(source, labels[left], target)
                found.append(model.score(target, labels[right]) - plain)
        for critic, found in gains.items():
            print(f"{name:<22} {critic:<12} gain in accuracy {interval(found)}", flush=True)
        goals[f"{name}: adaptation beats the classifier without it"] = any(map(above_zero, gains.values()))
    return report(goals)


def denoise(options: Any) -> bool:
    X = datasets.load_digits().data
    X = X[:, X.std(axis=0) > 1]  # where a pixel never changes, noise is all that a network would be given
    gains = []
    for seed in SEEDS:
        train, test = train_test_split(X, test_size=0.3, random_state=seed)
        noisy = test + 4 * np.random.default_rng(seed).normal(size=test.shape)
        errors = [
            ((Autoencoder(32, noise=noise, random_state=seed).fit(train).reconstruct(noisy) - test) ** 2).mean()
            for noise in (0.0, 0.8)
        ]
        gains.append(1 - errors[1] / errors[0])
    print(f"noisy digits: share of the squared error that denoising saves {interval(gains)}")
    return report({"denoising beats the autoencoder without it": above_zero(gains)})


def pretext(options: Any) -> bool:
    digits = datasets.load_digits()
    goals = {}
    for task in ("rotation", "transformation", "jigsaw", "inpainting", "masked"):
        gains = np.array([_pretext_gains(digits, task, seed) for seed in SEEDS])
        print(f"{task:<15} 40 labels: gain in accuracy over the untrained encoder {interval(gains[:, 0])}", end="")
        print(f", over raw pixels {interval(gains[:, 1])}", flush=True)
        goals[f"{task} beats the same encoder without training"] = above_zero(gains[:, 0])
    return report(goals)


def _pretext_gains(digits: Any, task: str, seed: int) -> tuple[float, float]:
    """Gains in accuracy over the untrained encoder and over raw pixels."""
    X = digits.data if task == "masked" else digits.images
    train, test = train_test_split(np.arange(len(digits.target)), test_size=0.4, random_state=seed)
    few = train[:40]
    features = [
        PretextEncoder(64, task=task, random_state=seed).fit(X[train]).transform(X),
        PretextEncoder(64, task=task, random_state=seed, max_iter=0).fit(X[train]).transform(X),
        digits.data,
    ]
    learnt, untrained, pixels = (_linear(each, digits.target, few, test) for each in features)
    return learnt - untrained, learnt - pixels


def _linear(features: Any, labels: Any, few: Any, test: Any) -> float:
    scale = features[few].std() + 1e-12
    head = LogisticRegression(max_iter=5000).fit(features[few] / scale, labels[few])
    return float(head.score(features[test] / scale, labels[test]))


# graphs and tables


def graphs(options: Any) -> bool:
    goals = neural_graphs.nodes()
    if options.mutag is None:
        print("MUTAG: left out, --mutag names the folder of its files (grakel's wheel has them)")
        return report(goals)
    return report(goals | neural_graphs.mutag(options.mutag))


def tables(options: Any) -> bool:
    return report(neural_tables.defaults(rates=options.rates))


def energies(options: Any) -> bool:
    return report(neural_energies.energies(SEEDS))


RUNS = {
    "flows": flows, "densities": densities, "adapt": adapt, "denoise": denoise, "pretext": pretext, "graphs": graphs,
    "tables": tables, "energies": energies, "fashion": neural_fashion.fashion,
    "fashion_pretext": neural_fashion.pretext,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=RUNS)
    parser.add_argument("--rows", type=int, default=8000, help="training rows of the made-up tables of `flows`")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="seeds of `flows`")
    parser.add_argument("--folder", default="/usr/share/datasets/fashion-mnist", help="files of Fashion-MNIST")
    parser.add_argument("--images", type=int, default=60_000, help="training images of `fashion`")
    parser.add_argument("--mutag", help="folder with the files of MUTAG")
    parser.add_argument("--rates", action="store_true", help="tables: also a third and three times the learning rate")
    options = parser.parse_args()
    return 0 if RUNS[options.what](options) else 1


if __name__ == "__main__":
    sys.exit(main())
