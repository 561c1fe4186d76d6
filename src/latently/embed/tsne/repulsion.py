"""Repulsion of every point by every other: exactly, or from a potential on a grid (fast Fourier transforms)."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import fft

from latently import compiled
from latently.embed.tsne.kernels import Student
from latently.geometry.distances import Array
from latently.learn.engine.blocks import for_blocks
from latently.learn.engine.cores import n_threads

_STEP = 0.4  # between nodes, in units of the kernel's width
_ROWS = 4096  # points whose charges are spread by one thread, at least
_MOST = {2: 2000, 3: 130}  # nodes along an axis of a grid with so many axes
_COARSER = 1.25  # how much coarser a step is than the one before, where a map is too wide for that
_SMALL = 32  # nodes along an axis of a grid that shows the kernel close by
_AT = np.array([1, 26, 66, 26, 1]) / 120  # a spline at the nodes
_BETWEEN = np.array([1, 237, 1682, 1682, 237, 1]) / 3840  # and between them
_MARGIN = 4  # nodes beyond the outermost point


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

    The charges of all points are spread over the grid by quintic B-splines and convolved with the kernel by fast
    Fourier transforms. The potential that this gives, sum_j k_ij, is read at each point by the same splines, and so is
    its gradient, which is the force but for a factor: one transform forth and one back. The kernel's transform is kept
    while the grid keeps its size. Forces are off by about half a per cent at this step.
    """

    def __init__(self, kernel: Student, step: float = _STEP) -> None:
        self.kernel = kernel
        self.finest = step * float(np.sqrt(kernel.freedom))
        self.step = 0.0
        self._shape: tuple[int, ...] = ()

    def prepare(self, Y: Array) -> None:
        """Compute the potential on the grid."""
        low, high = Y.min(axis=0), Y.max(axis=0)
        self._choose_step(float((high - low).max()), Y.shape[1])
        self.origin = low - _MARGIN * self.step
        needed = np.ceil((high - low) / self.step).astype(int) + 2 * _MARGIN + 1
        padded = tuple(_fast_size(2 * int(size)) for size in needed)
        if padded != self._shape:
            self._shape, self._spectrum = padded, self._transformed(padded)
        self.potential = self._convolved(self._charges(Y))

    def fill(self, Y: Array, start: int, stop: int, force: Array, mass: Array, own: bool = True) -> None:
        """See `Repulsion`; without `own`, for points that are not among those of the grid."""
        kernel = compiled.embed.grid
        dips = self._dips if own else np.zeros_like(self._dips)
        read = kernel.read_flat if Y.shape[1] == 2 else kernel.read_deep
        scale = -1 / self.kernel.factor
        read(Y, self.origin, 1 / self.step, start, stop, self.potential, scale, dips, force, mass)

    def _choose_step(self, width: float, n_axes: int) -> None:
        """The finest step, or one as coarse as a very wide map needs for the most nodes that an axis may have."""
        most = _MOST[n_axes] - 2 * _MARGIN - 1
        coarser = max(0, int(np.ceil(np.log(max(width / (most * self.finest), 1e-9)) / np.log(_COARSER))))
        step = self.finest * _COARSER**coarser
        if step != self.step:
            self.step, self._shape = step, ()
            self._dips = self._own_dips(n_axes)

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

    def _own_dips(self, n_axes: int) -> Array:
        """By how much a point's own potential is too small between two nodes along one axis, along two, and so on."""
        shape = (_SMALL,) * n_axes
        table = np.asarray(fft.irfftn(self._transformed(shape).astype(float), shape))
        between = np.convolve(_BETWEEN, _BETWEEN)
        at = np.pad(np.convolve(_AT, _AT), 1)
        found = []
        for halfway in range(1, n_axes + 1):
            own = table[np.ix_(*[range(-5, 6)] * n_axes)]
            for axis in range(n_axes):
                own = np.tensordot(own, between if axis < halfway else at, axes=(0, 0))
            found.append(1.0 - float(own))
        return np.array(found)

    def _transformed(self, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """The kernel's transform, divided by that of the splines that spread and read: they then interpolate."""
        halves = [np.arange(size // 2 + 1, dtype=np.float64) for size in shape]
        squares: Any = 0.0
        for axis, half in enumerate(halves):
            squares = squares + _along((half * self.step) ** 2, axis, len(shape))
        found = fft.dctn(self.kernel.value(squares), type=1, workers=n_threads())  # of an even function
        for axis, (half, size) in enumerate(zip(halves, shape, strict=True)):
            turn = 2 * np.pi * half / size
            spline = (66 + 52 * np.cos(turn) + 2 * np.cos(2 * turn)) / 120
            found /= _along(np.asarray(spline**2, dtype=float), axis, len(shape))
        for axis in range(len(shape) - 1):
            mirrored = np.minimum(np.arange(shape[axis]), shape[axis] - np.arange(shape[axis]))
            found = np.take(found, mirrored, axis=axis)
        return np.asarray(found, dtype=np.float32)


def _along(values: npt.NDArray[Any], axis: int, ndim: int) -> npt.NDArray[Any]:
    return values.reshape([-1 if each == axis else 1 for each in range(ndim)])


def _fast_size(least: int) -> int:
    """An even size with fast transforms, from a sparse ladder: the kernel's transform is kept from step to step."""
    rung = max(16, 2 ** int(np.log2(least)) // 8)
    return int(2 * fft.next_fast_len(-(-least // rung) * rung // 2, real=True))
