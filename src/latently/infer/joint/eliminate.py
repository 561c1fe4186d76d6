"""Sums over products of factors, one variable at a time: what makes a chain of 30 variables cheap.

`eliminate` sums out every variable that is not asked for, smallest table first. The tables it passes through
(buckets) are kept, since reading them backwards draws samples (`draw`) or finds the most probable values.
Variables of sparse factors are left for last, where all sparse factors are joined into one list of cells.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import log, prod

import numpy as np

from latently.infer.factors import Codes, Dense, Factor, Floats, Sparse, as_sparse, join, merge_cells, multiply

Reducer = Callable[[Floats], Floats]  # takes away the last axis of a table


def sum_last(table: Floats) -> Floats:
    """Sum rule."""
    return np.asarray(table.sum(axis=-1))


def max_last(table: Floats) -> Floats:
    """Max rule: for the most probable assignment."""
    return np.asarray(table.max(axis=-1))


@dataclass
class Elimination:
    """What is left after the sums: one factor over the kept variables, and the buckets on the way."""

    rest: Factor
    log_scale: float
    buckets: list[tuple[str, Dense]] = field(default_factory=list)  # the eliminated variable is the last axis


def eliminate(factors: Iterable[Factor], keep: Collection[str], reduce: Reducer = sum_last) -> Elimination:
    """Take every variable outside `keep` out of the product of the factors.

    Tables are divided by their largest entry as they are made, so that a thousand variables do not underflow;
    `log_scale` is the log of what was divided out.

    Parameters
    ----------
    factors
        The factors whose product is meant.
    keep
        Names of the variables to be left.
    reduce
        How a variable is taken out: `sum_last` or `max_last`.
    """
    pool, done = _take_out(factors, keep, reduce)
    done.rest = _join_rest(pool, keep, reduce, done)
    return done


def marginal_factors(factors: Iterable[Factor], keep: Collection[str]) -> list[Factor]:
    """Sum out every variable outside `keep`, and leave what remains as a product of factors.

    The product may differ from the true marginal by a constant.
    """
    pool, done = _take_out(factors, keep, sum_last)
    dropped = {n for f in pool for n in f.names if n not in keep}
    touching = [f for f in pool if dropped.intersection(f.names)]
    if not touching:
        return pool
    within = [n for n in keep if any(n in f.names for f in touching)]
    rest = [f for f in pool if not dropped.intersection(f.names)]
    return [*rest, _join_rest(touching, within, sum_last, done)]


def _take_out(factors: Iterable[Factor], keep: Collection[str], reduce: Reducer) -> tuple[list[Factor], Elimination]:
    """Take out the variables outside `keep` that no sparse factor has."""
    pool = dict(enumerate(factors))
    sizes = {n: s for f in pool.values() for n, s in f.sizes().items()}
    sparse = {n for f in pool.values() if isinstance(f, Sparse) for n in f.names}
    done = Elimination(Dense((), np.ones(())), 0.0)
    holders: dict[str, set[int]] = {n: set() for n in sizes}  # the factors with that variable
    for number, factor in pool.items():
        for name in factor.names:
            holders[name].add(number)
    for name in _smallest_first({n for n in sizes if n not in keep and n not in sparse}, pool, sizes):
        number = len(done.buckets) - len(sizes) - 1  # below zero: not taken by a given factor
        touching = [pool.pop(i) for i in holders.pop(name)]
        pool[number] = _sum_out(touching, name, sizes, reduce, done)
        for other in pool[number].names:
            holders[other] = {i for i in holders[other] if i in pool} | {number}
    return list(pool.values()), done


def _smallest_first(remaining: set[str], pool: Mapping[int, Factor], sizes: Mapping[str, int]) -> Iterator[str]:
    """Give variables in the greedy order of the size of table each makes; by name where equal."""
    near: dict[str, set[str]] = {n: set() for n in sizes}
    for factor in pool.values():
        for name in factor.names:
            near[name].update(factor.names)
    cost = {n: prod(sizes[m] for m in near[n]) for n in remaining}
    heap = [(c, n) for n, c in cost.items()]
    heapify(heap)
    while heap:
        size, name = heappop(heap)
        if cost.get(name) != size:
            continue  # its neighbours have changed since: a newer entry is in the heap
        del cost[name]
        yield name
        around = near.pop(name) - {name}
        for other in around:
            near[other] = (near[other] | around) - {name}
            if other in cost:
                cost[other] = prod(sizes[m] for m in near[other])
                heappush(heap, (cost[other], other))


def _sum_out(touching: list[Factor], name: str, sizes: Mapping[str, int], reduce: Reducer, done: Elimination) -> Dense:
    dense = [f for f in touching if isinstance(f, Dense)]
    names = (*dict.fromkeys(n for f in dense for n in f.names if n != name), name)
    table = _rescale(multiply(dense, names, sizes), done)
    done.buckets.append((name, Dense(names, table)))
    return Dense(names[:-1], np.asarray(reduce(table)))


def _rescale(table: Floats, done: Elimination) -> Floats:
    top = table.max(initial=0.0)
    if not top > 0:
        done.log_scale = -np.inf
        return table
    done.log_scale += log(top)
    return np.asarray(table / top)


def _join_rest(pool: list[Factor], keep: Collection[str], reduce: Reducer, done: Elimination) -> Factor:
    if not any(isinstance(f, Sparse) for f in pool):
        sizes = {n: s for f in pool for n, s in f.sizes().items()}
        names = tuple(n for n in keep if n in sizes)
        dense = [f for f in pool if isinstance(f, Dense)]
        return Dense(names, _rescale(multiply(dense, names, sizes), done))
    cells = _join_all(pool)
    top = cells.values.max(initial=0.0)
    if not top > 0:
        done.log_scale = -np.inf
        return cells
    done.log_scale += log(top)
    cells = Sparse(cells.names, cells.shape, cells.codes, cells.values / top)
    if reduce is max_last:
        return cells  # the row of highest value is the answer for all its variables
    at = [cells.names.index(n) for n in keep if n in cells.names]
    named, shape = tuple(cells.names[i] for i in at), tuple(cells.shape[i] for i in at)
    return merge_cells(Sparse(named, shape, cells.codes[:, at], cells.values))


def _join_all(pool: list[Factor]) -> Sparse:
    """Multiply everything left into one list of cells; dense factors within its variables only rescale it."""
    first, *others = sorted((f for f in pool if isinstance(f, Sparse)), key=lambda f: len(f.values))
    cells = first
    for other in others:
        cells = join(cells, other)
    for factor in sorted((f for f in pool if isinstance(f, Dense)), key=lambda f: f.table.size):
        if set(factor.names) <= set(cells.names):
            values = cells.values * factor.lookup(cells.columns())
            cells = Sparse(cells.names, cells.shape, cells.codes, values)
        else:
            cells = join(cells, as_sparse(factor))
    return cells


def log_total(done: Elimination) -> float:
    """Give the log of the sum of the whole product."""
    table = done.rest.table if isinstance(done.rest, Dense) else done.rest.values
    total = float(np.sum(table))
    return log(total) + done.log_scale if total > 0 else -np.inf


def draw(factors: Iterable[Factor], n: int, rng: np.random.Generator) -> dict[str, Codes]:
    """Draw n assignments of all variables, the last eliminated first, each given those drawn before it."""
    pool = list(factors)
    done = eliminate(pool, [*dict.fromkeys(n for f in pool if isinstance(f, Sparse) for n in f.names)])
    codes = _draw_rest(done.rest, n, rng)
    for name, bucket in reversed(done.buckets):
        at = tuple(codes[m] for m in bucket.names[:-1])
        weights = bucket.table[at] if at else np.broadcast_to(bucket.table, (n, bucket.table.shape[-1]))
        climb = np.cumsum(weights, axis=-1)
        # strictly above: a value of probability zero is never drawn
        codes[name] = (climb <= rng.random((n, 1)) * climb[:, -1:]).sum(axis=1).astype(np.intp)
    return codes


def _draw_rest(rest: Factor, n: int, rng: np.random.Generator) -> dict[str, Codes]:
    weights = rest.table.ravel() if isinstance(rest, Dense) else rest.values
    cells = rng.choice(len(weights), size=n, p=weights / weights.sum())
    if isinstance(rest, Sparse):
        return {name: rest.codes[cells, i] for i, name in enumerate(rest.names)}
    where = np.unravel_index(cells, rest.table.shape) if rest.names else ()
    return {name: np.asarray(code, dtype=np.intp) for name, code in zip(rest.names, where, strict=True)}


def best(done: Elimination) -> tuple[dict[str, int], float]:
    """Read the most probable assignment backwards from a `max_last` elimination, with its log value."""
    rest = done.rest
    weights = rest.table.ravel() if isinstance(rest, Dense) else rest.values
    top = int(np.argmax(weights))
    where = np.unravel_index(top, rest.table.shape) if isinstance(rest, Dense) else rest.codes[top]
    codes = {name: int(code) for name, code in zip(rest.names, where, strict=True)}
    for name, bucket in reversed(done.buckets):
        codes[name] = int(np.argmax(bucket.table[tuple(codes[m] for m in bucket.names[:-1])]))
    return codes, log(weights[top]) + done.log_scale
