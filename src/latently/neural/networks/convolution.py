"""Convolutional encoders and decoders, with residual blocks and U-Net skip connections."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from latently.neural.networks.activation import activation
from latently.neural.networks.mlp import Residual


def convolution(n_in: int, n_out: int, kind: str, stride: int = 1) -> nn.Sequential:
    """A convolution of three by three with normalised channels and an activation."""
    layers = (nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False), _norm(n_out), activation(kind))
    return nn.Sequential(*layers)


def _norm(channels: int) -> nn.Module:
    # statistics of each image alone: a row's answer does not depend on the others, and a batch may be of one
    return nn.GroupNorm(channels // 8 if channels % 8 == 0 else 1, channels)


def block(n_in: int, n_out: int, kind: str, stride: int, *, residual: bool) -> nn.Sequential:
    """A step to another resolution and, with `residual`, a residual block at that resolution."""
    steps = [convolution(n_in, n_out, kind, stride)]
    if residual:
        steps.append(nn.Sequential(Residual(convolution(n_out, n_out, kind))))
    return nn.Sequential(*steps)


class ConvEncoder(nn.Module):
    """Blocks that halve the resolution one after the other; it remembers what each was given."""

    def __init__(self, n_in: int, widths: Sequence[int], kind: str, stride: int = 2, *, residual: bool = False) -> None:
        super().__init__()
        sizes = zip((n_in, *widths), widths, strict=False)
        self.blocks = nn.ModuleList([block(a, b, kind, stride, residual=residual) for a, b in sizes])

    def forward(self, x: Tensor) -> list[Tensor]:
        """The images, and the maps after each block."""
        maps = [x]
        for step in self.blocks:
            maps.append(step(maps[-1]))
        return maps


class ConvDecoder(nn.Module):
    """Blocks that bring maps back to the resolutions of an encoder.

    With `skips` each is also given the encoder's maps of that resolution, as in a U-Net: they say where things are,
    the code says what they are.
    """

    def __init__(self, n_out: int, widths: Sequence[int], kind: str, *, residual: bool, skips: bool) -> None:
        super().__init__()
        self.skips = skips
        back = (*widths[::-1][1:], widths[0])
        sizes = list(zip(widths[::-1], back, strict=True))
        more = [*widths[:-1][::-1], 0] if skips else [0] * len(sizes)
        self.blocks = nn.ModuleList(
            [block(a + m, b, kind, 1, residual=residual) for (a, b), m in zip(sizes, more, strict=True)]
        )
        self.last = nn.Conv2d(back[-1], n_out, 3, 1, 1)

    def forward(self, code: Tensor, sizes: Sequence[tuple[int, int]], maps: Sequence[Tensor] = ()) -> Tensor:
        """Images from a code; `sizes` are the resolutions on the way, `maps` the encoder's at those."""
        x = code
        for i, (step, size) in enumerate(zip(self.blocks, sizes, strict=True)):
            x = interpolate(x, size=size)
            if self.skips and i < len(self.blocks) - 1:
                x = torch.cat([x, maps[i]], dim=1)
            x = step(x)
        out: Tensor = self.last(x)
        return out


def resolutions(height: int, width: int, levels: int, stride: int = 2) -> list[tuple[int, int]]:
    """Heights and widths after 0, 1, ..., `levels` blocks.

    Examples
    --------
    >>> resolutions(8, 7, 2)
    [(8, 7), (4, 4), (2, 2)]
    """
    sizes = [(height, width)]
    for _ in range(levels):
        sizes.append((-(-sizes[-1][0] // stride), -(-sizes[-1][1] // stride)))
    return sizes
