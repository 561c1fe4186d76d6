"""Repulsion of every point by every other: exactly, or from a potential on a grid (fast Fourier transforms)."""

from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import fft

from latently import compiled
from latently.embed.tsne.kernels import Student
from latently.geometry.distances import Array
from latently.learn.engine.blocks import for_blocks
from latently.learn.engine.cores import n_threads

_STEP = 0.45  # between nodes, in units of the kernel's width
_ROWS = 4096  # points whose charges are spread by one thread, at least
_MARGIN = 3  # nodes beyond the outermost point


class Repulsion(Protocol):
    """sum_j k_ij and sum_j k_ij f_ij (y_i - y_j) of points in blocks, after it has seen all of them."""

    def prepare(self, Y: Array) -> None:
        """Look at all points."""

    def fill(self, Y: Array, start: int, stop: int, force: Array, mass: Array) -> None:
        """Fill force and mass of some points; mass counts the point itself."""


class Exact:
    """Every pair of points."""

    def prepare(self, Y: Array) -> None:
        """Take the columns apart."""
        self._columns = [np.ascontiguousarray(column) for column in Y.T]

    def fill(self, Y: Array, start: int, stop: int, force: Array, mass: Array) -> None:
        """See `Repulsion`."""
        kernel = compiled.embed.repulsion
        (kernel.flat if Y.shape[1] == 2 else kernel.deep)(*self._columns, start, stop, force, mass)


class Grid:
    """A potential on a regular grid.

    The charges of all points are spread over the grid by cubic B-splines and convolved with the kernel by fast Fourier
    transforms. The potential that this gives, sum_j k_ij, is read at each point by the same splines, and so is its
    gradient, which is the force but for a factor: one transform forth and one back. The kernel's transform is kept
    while the grid keeps its size. The error is that of splines at this step: relative to the largest force, about 1e-3.
    """

    def __init__(self, kernel: Student, step: float = _STEP) -> None:
        self.kernel = kernel
        self.step = step * float(np.sqrt(kernel.freedom))
        self._shape: tuple[int, ...] = ()

    def prepare(self, Y: Array) -> None:
        """Compute the potential on the grid."""
        low, high = Y.min(axis=0), Y.max(axis=0)
        self.origin = low - _MARGIN * self.step
        needed = np.ceil((high - low) / self.step).astype(int) + 2 * _MARGIN + 1
        padded = tuple(_fast_size(2 * int(size)) for size in needed)
        if padded != self._shape:
            self._shape, self._spectrum = padded, self._transformed(padded)
        self.potential = self._convolved(self._charges(Y))

    def fill(self, Y: Array, start: int, stop: int, force: Array, mass: Array) -> None:
        """See `Repulsion`."""
        kernel = compiled.embed.grid
        read = kernel.read_flat if Y.shape[1] == 2 else kernel.read_deep
        read(Y, self.origin, 1 / self.step, start, stop, self.potential, -1 / self.kernel.factor, force, mass)

    def _charges(self, Y: Array) -> npt.NDArray[np.float32]:
        spread = compiled.embed.grid.spread_flat if Y.shape[1] == 2 else compiled.embed.grid.spread_deep
        size = tuple(length // 2 for length in self._shape)
        parts = min(4, -(-len(Y) // _ROWS))  # not the number of threads, so that sums are the same for any
        grids = np.zeros((parts, *size), np.float32)
        rows = -(-len(Y) // parts)

        def fill(start: int, stop: int) -> None:
            spread(Y, self.origin, 1 / self.step, start, stop, grids[start // rows])

        for_blocks(len(Y), fill, rows=rows)
        return grids[0] if parts == 1 else np.asarray(grids.sum(axis=0))

    def _convolved(self, charges: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Transforms axis by axis, so that nothing is computed of rows that are all zero or not wanted."""
        workers, last = n_threads(), charges.ndim - 1
        found = fft.rfft(charges, self._shape[last], axis=last, workers=workers)
        for axis in range(last - 1, -1, -1):
            found = fft.fft(found, self._shape[axis], axis=axis, workers=workers)
        found *= self._spectrum
        for axis in range(last):
            found = fft.ifft(found, axis=axis, workers=workers, overwrite_x=True)
            found = found[(slice(None),) * axis + (slice(charges.shape[axis]),)]
        found = fft.irfft(found, self._shape[last], axis=last, workers=workers)
        return np.ascontiguousarray(found[..., : charges.shape[last]])

    def _transformed(self, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """The kernel's transform, divided by that of the splines that spread and read: they then interpolate."""
        halves = [np.arange(size // 2 + 1) for size in shape]
        squares: Any = 0.0
        for axis, half in enumerate(halves):
            squares = squares + _along((half * self.step) ** 2, axis, len(shape))
        found = fft.dctn(self.kernel.value(squares), type=1, workers=n_threads())  # of an even function
        for axis, (half, size) in enumerate(zip(halves, shape, strict=True)):
            spline = (2 + np.cos(2 * np.pi * half / size)) / 3
            found /= _along(spline**2, axis, len(shape))
        for axis in range(len(shape) - 1):
            mirrored = np.minimum(np.arange(shape[axis]), shape[axis] - np.arange(shape[axis]))
            found = np.take(found, mirrored, axis=axis)
        return np.asarray(found, dtype=np.float32)


def _along(values: Array, axis: int, ndim: int) -> Array:
    return values.reshape([-1 if each == axis else 1 for each in range(ndim)])


def _fast_size(least: int) -> int:
    """An even size with fast transforms, from a sparse ladder: the kernel's transform is kept from step to step."""
    rung = max(16, 2 ** int(np.log2(least)) // 8)
    return int(2 * fft.next_fast_len(-(-least // rung) * rung // 2, real=True))


def forces(
    repulsion: Repulsion, Y: Array, attract: Any, attraction: Array, repelled: Array, mass: Array, rows: int | None
) -> None:
    """Fill both forces on every point, block by block."""
    repulsion.prepare(Y)
    for_blocks(len(Y), partial(_both, repulsion, Y, attract, attraction, repelled, mass), rows=rows)


def _both(
    repulsion: Repulsion, Y: Array, attract: Any, attraction: Array, repelled: Array, mass: Array, start: int, stop: int
) -> None:
    attract(Y, start, stop, attraction)
    repulsion.fill(Y, start, stop, repelled, mass)
