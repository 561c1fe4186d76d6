"""Pretext tasks of images: fill in a patch, put tiles in order, tell how an image was turned or moved.

Few bits answer which order or which turn it was, and an encoder trained on that alone keeps few directions. So those
two also lower `collapse`, and see images that are moved a little, of which edges alone do not give the answer away.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import affine_grid, cross_entropy, grid_sample

from latently.neural.networks.convolution import ConvEncoder, resolutions
from latently.neural.networks.mlp import mlp

ORDERS = tuple(itertools.permutations(range(4)))
"""The orders that the four tiles of an image can be put in."""
LARGEST_TURN, LARGEST_SHIFT = math.pi / 4, 0.25
JITTER = 0.3
"""By which share of the largest amounts images are moved before they are turned or cut."""
CORRELATED = 0.04
"""Weight of covariances beside variances."""


class ImageTask(nn.Module, ABC):
    """An encoder of images (channels, height, width), and a head for a task that has answers but needs no labels."""

    def __init__(self, shape: Sequence[int], widths: Sequence[int], n_components: int, kind: str) -> None:
        super().__init__()
        channels, height, width = shape
        self.shape = tuple(shape)
        size = resolutions(height, width, len(widths))[-1]
        self.body = ConvEncoder(channels, widths, kind)
        flat = widths[-1] * size[0] * size[1]
        self.last = nn.Sequential(nn.Flatten(), nn.Linear(flat, n_components))
        self.head = self._head(n_components, kind)

    @abstractmethod
    def _head(self, n_components: int, kind: str) -> nn.Module:
        """From features to the task's answer."""

    @abstractmethod
    def loss(self, x: Tensor) -> Tensor:
        """Mean loss of images (n, channels, height, width)."""

    def encoded(self, x: Tensor) -> Tensor:
        """(n, k) features of images."""
        out: Tensor = self.last(self.body(x)[-1])
        return out


class Inpainting(ImageTask):
    """Fill in a square that is cut out, from what is around it."""

    def _head(self, n_components: int, kind: str) -> nn.Module:
        return mlp(n_components, (128,), int(np.prod(self.shape)), kind)

    def loss(self, x: Tensor) -> Tensor:
        """Squared error inside the square."""
        hidden = self._square(x)
        again = self.head(self.encoded(torch.where(hidden, 0.0, x))).reshape(x.shape)
        return ((again - x).square() * hidden).sum() / (hidden.sum() * x.shape[1])

    def _square(self, x: Tensor) -> Tensor:
        """(n, 1, height, width) true inside squares of half the image's size."""
        inside = []
        for dim in (2, 3):
            size, n = x.shape[dim], -(-x.shape[dim] // 2)
            start = torch.randint(size - n + 1, (len(x), 1), device=x.device)
            places = torch.arange(size, device=x.device)
            inside.append((places >= start) & (places < start + n))
        return (inside[0][:, :, None] & inside[1][:, None, :])[:, None]


class Jigsaw(ImageTask):
    """Tell in which of 24 orders the four quarters of an image were put."""

    def _head(self, n_components: int, kind: str) -> nn.Module:
        return mlp(n_components, (64,), len(ORDERS), kind)

    def loss(self, x: Tensor) -> Tensor:
        """Cross-entropy of the order, and collapse of the features of whole images."""
        x = jittered(x)
        drawn = torch.randint(len(ORDERS), (len(x),), device=x.device)
        return cross_entropy(self.head(self.encoded(shuffled(x, drawn))), drawn) + collapse(self.encoded(x))


class Rotation(ImageTask):
    """Tell by how many quarter turns two versions of an image differ, from their two encodings."""

    def _head(self, n_components: int, kind: str) -> nn.Module:
        return mlp(3 * n_components, (64,), 4, kind)

    def loss(self, x: Tensor) -> Tensor:
        """Cross-entropy of the number of quarter turns, and collapse of both encodings."""
        x = jittered(x)
        turns = torch.randint(4, (len(x),), device=x.device)
        turned = torch.stack([torch.rot90(x, k, (2, 3)) for k in range(4)])[
            turns, torch.arange(len(x), device=x.device)
        ]
        before, after = self.encoded(x), self.encoded(turned)
        told = cross_entropy(self.head(paired(before, after)), turns)
        return told + (collapse(before) + collapse(after)) / 2


class Transformation(ImageTask):
    """Tell the angle and the shift between two versions of an image, from their two encodings."""

    def _head(self, n_components: int, kind: str) -> nn.Module:
        return mlp(3 * n_components, (64,), 3, kind)

    def loss(self, x: Tensor) -> Tensor:
        """Squared error of the angle and the two shifts, each in units of its largest."""
        drawn = 2 * torch.rand(len(x), 3, device=x.device, dtype=x.dtype) - 1
        both = paired(self.encoded(x), self.encoded(moved(x, drawn)))
        return (self.head(both) - drawn).square().mean()


def moved(x: Tensor, amounts: Tensor) -> Tensor:
    """Images turned and shifted by amounts (n, 3) in -1 to 1: of an eighth of a turn, and of a quarter of the size."""
    angle, shift = amounts[:, 0] * LARGEST_TURN, 2 * LARGEST_SHIFT * amounts[:, 1:]
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], dim=1).reshape(-1, 2, 2)
    grid = affine_grid(torch.cat([turn, shift[:, :, None]], dim=2), list(x.shape), align_corners=False)
    return grid_sample(x, grid, padding_mode="border", align_corners=False)


def shuffled(x: Tensor, drawn: Tensor) -> Tensor:
    """Images whose quarters are in the orders (n,) of `ORDERS`."""
    h, w = x.shape[2] // 2, x.shape[3] // 2
    tiles = torch.stack([x[:, :, i : i + h, j : j + w] for i in (0, h) for j in (0, w)], dim=1)
    order = torch.tensor(ORDERS, device=x.device)[drawn]
    t = torch.gather(tiles, 1, order[:, :, None, None, None].expand_as(tiles))
    out = x.clone()
    out[:, :, :h, : 2 * w] = torch.cat([t[:, 0], t[:, 1]], dim=3)
    out[:, :, h : 2 * h, : 2 * w] = torch.cat([t[:, 2], t[:, 3]], dim=3)
    return out


def jittered(x: Tensor) -> Tensor:
    """Images moved by small random amounts."""
    return moved(x, JITTER * (2 * torch.rand(len(x), 3, device=x.device, dtype=x.dtype) - 1))


def paired(before: Tensor, after: Tensor) -> Tensor:
    """What a head is given of two versions of an image: both encodings and their difference."""
    return torch.cat([before, after, after - before], dim=1)


def collapse(features: Tensor) -> Tensor:
    """How far features (n, k) are from standard deviations of at least one, and from being uncorrelated.

    The variance and covariance terms of Bardes, Ponce and LeCun (2022).

    Examples
    --------
    >>> both = torch.tensor([[-2.0, -2.0], [0.0, 4.0], [2.0, -2.0]])
    >>> float(collapse(both)), float(collapse(both[:, [0, 0]])), float(collapse(0 * both)) > 0.99
    (0.0, 0.64..., True)
    """
    apart = features - features.mean(dim=0)
    covariance = apart.T @ apart / max(len(features) - 1, 1)
    variances = torch.diagonal(covariance)
    others = (covariance - torch.diag(variances)).square().sum() / len(variances)
    return torch.relu(1 - variances.clamp(min=1e-8).sqrt()).mean() + CORRELATED * others


TASKS: dict[str, Any] = {
    "inpainting": Inpainting,
    "jigsaw": Jigsaw,
    "rotation": Rotation,
    "transformation": Transformation,
}
