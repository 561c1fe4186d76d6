"""What one pass over a Dask collection works on, and which workers hold it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from latently.data.dask.graph import beside, delayed_parts, finish, measured, persisted, with_arrays
from latently.data.dask.partition import Measure, Part, Plan, check_order
from latently.data.tables.matrix import check_size

Values = list[tuple[Any, ...]]


@dataclass(frozen=True, eq=False)
class Blocks:
    """What one pass works on.

    Attributes
    ----------
    values
        Of each part what it is made of: the delayed part itself, or its rows and targets as Dask has them.
    plan
        How to make a part of rows and targets; None where the parts are made already.
    futures
        The same as `values` where the workers hold all of it; None where something has yet to be computed.
    """

    values: Values
    plan: Plan | None
    futures: Values | None


@dataclass(frozen=True, eq=False)
class Loaded:
    """Delayed parts that have rows, how large each is, and what a pass over them works on."""

    parts: list[Any]
    sizes: list[Measure]
    blocks: Blocks


def loaded_parts(
    raw: list[Any],
    weights: Any,
    target: Any,
    plan: Plan,
    client: Any,
    keep: bool,
    known: list[int] | None,
    n_columns: int,
) -> Loaded:
    """Turn partitions into floats on the workers that have them; `known` are rows that need not be counted."""
    parts = persisted(delayed_parts(raw, weights, target, plan), client, keep)
    parts, sizes = measured(parts, client, known)
    check_size((sum(size.rows for size in sizes), n_columns))
    if plan.group is not None:
        check_order([(i, size.ends) for i, size in enumerate(sizes) if size.ends is not None], plan.group)
    parts, sizes = with_arrays(parts, sizes, weights, target, client, keep)
    if not sum(size.weight for size in sizes) > 0:
        raise ValueError("sample_weight is zero for every row: at least one weight must be positive")
    parts = [part for part, size in zip(parts, sizes, strict=True) if size.rows]
    sizes = [size for size in sizes if size.rows]
    on_workers = client is not None and keep
    parts = _balanced(parts, sizes, client) if on_workers else parts
    futures: Values | None = [(future_of(part),) for part in parts] if on_workers else None
    return Loaded(parts, sizes, Blocks([(part,) for part in parts], None, futures))


def raw_blocks(raw: list[Any], collections: list[Any], plan: Plan, client: Any) -> Blocks:
    """Give blocks of partitions as they come, of a table and of targets in the same partitions (None without)."""
    targets = [None] * len(raw) if collections[1] is None else beside(collections[1], len(raw), "y")
    values, plan = list(zip(raw, targets, strict=True)), replace(plan, is_passing=True)
    if client is None:
        return Blocks(values, plan, None)
    from distributed import futures_of

    known = {future.key: future for future in futures_of(collections)}  # type: ignore[no-untyped-call]
    futures = [tuple(None if value is None else known.get(value.key) for value in some) for some in values]
    missing = None in (future for some in futures for future in some[: 1 if collections[1] is None else 2])
    return Blocks(values, plan, None if missing else futures)


def _balanced(parts: list[Any], sizes: list[Measure], client: Any) -> list[Any]:
    """Move parts from workers that hold more than their share of the rows to others that hold less."""
    from dask.base import annotate, persist
    from dask.delayed import delayed

    holders = holders_of([future_of(part) for part in parts], client)
    moves = moves_to_balance([size.rows for size in sizes], holders, client.nthreads())
    move, moved = delayed(_same, pure=False), []
    for i, worker in moves.items():
        with annotate(workers=[worker], allow_other_workers=True):
            moved.append(move(parts[i]))
    there = persist(*moved, optimize_graph=False, scheduler=client)  # type: ignore[no-untyped-call]
    finish(list(there))
    placed = dict(zip(moves, there, strict=True))
    return [placed.get(i, part) for i, part in enumerate(parts)]


def moves_to_balance(rows: list[int], holders: Sequence[str | None], threads: dict[str, int]) -> dict[int, str]:
    """Say which parts should go to which worker, so that none has more than its share by more than about a part.

    Examples
    --------
    >>> moves_to_balance([10, 10, 10, 10], ["a", "a", "a", "b"], {"a": 1, "b": 1})
    {2: 'b'}
    """
    per_thread = sum(rows) / max(sum(threads.values()), 1)
    surplus = {worker: -per_thread * n for worker, n in threads.items()}
    for n, holder in zip(rows, holders, strict=True):
        if holder in surplus:
            surplus[holder] += n
    moves = {}
    for i in reversed(range(len(rows))):
        holder, light = holders[i], min(surplus, key=lambda worker: surplus[worker], default="")
        if holder in surplus and surplus[holder] - surplus[light] > 1.01 * rows[i]:
            surplus[holder] -= rows[i]
            surplus[light] += rows[i]
            moves[i] = light
    return moves


def _same(part: Part) -> Part:
    return part


def future_of(delayed: Any) -> Any:
    """Give the future that stands behind a delayed value which a worker holds."""
    from distributed import futures_of

    (found,) = futures_of(delayed)  # type: ignore[no-untyped-call]
    return found


def holders_of(futures: Sequence[Any], client: Any) -> list[str | None]:
    """Address of a worker that holds each future, once all of them are computed; None where that is nobody."""
    from distributed import wait

    wait(list(futures))  # type: ignore[no-untyped-call]
    known = client.who_has(list(futures))
    return [min(known.get(future.key, ()), default=None) for future in futures]
