"""Where PyTorch runs: a seed and a number of threads of a fit's own, and everything as it was afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch


@contextmanager
def session(n_threads: int = 1, seed: int | None = None) -> Iterator[None]:
    """Run PyTorch with so many threads and, if given, from a seed; its own settings come back at the end.

    Examples
    --------
    >>> with session(seed=0):
    ...     first = torch.rand(1)
    >>> with session(seed=0):
    ...     bool(first == torch.rand(1))
    True
    """
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        with nullcontext() if seed is None else drawing(seed):
            yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def drawing(seed: int) -> Iterator[None]:
    """Draw from a seed inside a block; PyTorch's own stream goes on afterwards as if nothing had been drawn.

    Not by `torch.manual_seed`, which takes milliseconds.
    """
    before = torch.get_rng_state()
    torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(before)


def chosen_device(name: str) -> torch.device:
    """The device of a name; "auto" is a GPU if there is one.

    Examples
    --------
    >>> chosen_device("cpu")
    device(type='cpu')
    """
    if name != "auto":
        try:
            return torch.device(name)
        except RuntimeError as problem:
            raise ValueError(f"device={name!r} is not known to PyTorch: give 'auto', 'cpu' or 'cuda'") from problem
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
