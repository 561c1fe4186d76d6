"""What Dask is asked to do: which client computes, which partitions there are, and the graphs over them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from latently.data.dask.partition import Measure, Part, Plan, kind_of, prepare
from latently.data.sources.chunks import is_dask
from latently.data.tables.matrix import check_weights


def check_open(client: Any) -> None:
    """Raise an error if the client that holds the data has been closed."""
    if client is not None and client.status != "running":
        raise RuntimeError(
            f"the Dask client that holds the data is {client.status}: keep the distributed.Client open until the fit "
            "is done, or make a new client and a new collection"
        )


def current_client() -> Any:
    """Give the `distributed.Client` that Dask computes with now; None if it computes in this process."""
    from dask.base import get_scheduler

    try:
        chosen = getattr(get_scheduler(), "__self__", None)  # type: ignore[no-untyped-call]
    except ValueError:  # a client was made the default, and closed
        chosen = None
    return chosen if hasattr(chosen, "scheduler_info") else None


def computed(delayed: list[Any], client: Any) -> list[Any]:
    """Compute delayed values by a client, or by whatever Dask would use without one."""
    from dask.base import compute

    # As they are: nothing in these graphs can be fused or culled.
    options = {} if client is None else {"scheduler": client}
    return list(compute(*delayed, optimize_graph=False, **options))  # type: ignore[no-untyped-call]


def persisted(delayed: list[Any], client: Any, wanted: bool = True) -> list[Any]:
    """Give delayed values that are kept in the workers' memory once computed; as they are, if that is not wanted."""
    from dask.base import persist

    options = {} if client is None else {"scheduler": client}
    return list(persist(*delayed, **options)) if wanted else delayed  # type: ignore[no-untyped-call]


def finish(parts: list[Any]) -> None:
    """Wait until parts are held by the workers; an error of one of them is raised here."""
    from distributed import futures_of, wait

    futures = [future for part in parts for future in futures_of(part)]  # type: ignore[no-untyped-call]
    wait(futures)  # type: ignore[no-untyped-call]
    for future in futures:
        if future.status == "error":
            future.result()


def read_plan(X: Any, columns: Sequence[str] | None, plan: Plan) -> tuple[list[Any], Plan]:
    """Give the delayed partitions of a collection, and how to read them."""
    # A delayed value has every attribute, so it has to be one with a meaning.
    is_table = is_dask(X) and isinstance(getattr(X, "ndim", None), int)
    if not is_table or (X.ndim == 1 and not hasattr(X, "numblocks")):
        raise TypeError(f"expected a Dask array or dataframe, got {type(X).__name__}")
    roles = [name for name in (plan.weights, plan.target, plan.group) if name is not None]
    if hasattr(X, "columns"):
        names = _feature_names(X, columns, roles)
        return list(X.to_delayed()), replace(plan, names=names, kinds=tuple(kind_of(X.dtypes[name]) for name in names))
    if roles or columns is not None:
        raise ValueError(f"an array has no columns by name, such as {[*roles, *(columns or ())][0]!r}: use a dataframe")
    if X.ndim != 2:
        raise ValueError(f"X must be a 2-D Dask array (rows, columns), got {X.ndim} dimension(s)")
    blocks = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    return list(blocks.to_delayed().ravel()), plan


def _feature_names(X: Any, columns: Sequence[str] | None, roles: list[str]) -> tuple[str, ...]:
    there = tuple(map(str, X.columns))
    wanted = [name for name in there if name not in roles] if columns is None else list(columns)
    for name in (*wanted, *roles):
        if name not in there:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(there)}")
    return tuple(wanted)


def delayed_parts(raw: list[Any], weights: Any, target: Any, plan: Plan) -> list[Any]:
    """Give a delayed `Part` for each partition, with weights and targets that are partitioned alike."""
    from dask.delayed import delayed

    shares, targets = beside(weights, len(raw), "sample_weight"), beside(target, len(raw), "y")
    make = delayed(prepare, pure=False)
    shared = delayed(plan, pure=False, traverse=False)  # one copy for all of the tasks
    rows = zip(raw, shares, targets, strict=True)
    return [make(part, share, y, shared, i) for i, (part, share, y) in enumerate(rows)]


def beside(values: Any, n: int, name: str) -> list[Any]:
    """The partitions of a collection that lies beside the rows; nothing for anything else."""
    if not is_dask(values):
        return [None] * n
    parts = list(np.ravel(values.to_delayed()))
    if len(parts) != n:
        raise ValueError(
            f"{name} has {len(parts)} partitions and X has {n}: cut both in the same way (rechunk, repartition)"
        )
    return parts


def known_rows(X: Any) -> list[int] | None:
    """Rows of each partition, where Dask knows them beforehand."""
    sizes = X.chunks[0] if hasattr(X, "numblocks") else ()
    return [int(n) for n in sizes] if sizes and all(n == n for n in sizes) else None


def measured(parts: list[Any], client: Any, known: list[int] | None = None) -> tuple[list[Any], list[Measure]]:
    """Give the parts, and how large each is; `known` are rows without weights that a cluster need not count."""
    if known is not None and client is not None:
        finish(parts)
        return parts, [Measure(n, float(n), n) for n in known]
    from dask.delayed import delayed

    measure = delayed(Part.measured, pure=False)
    return parts, computed([measure(part) for part in parts], client)


def with_arrays(
    parts: list[Any], sizes: list[Measure], weights: Any, target: Any, client: Any, keep: bool
) -> tuple[list[Any], list[Measure]]:
    """Add weights and targets that are in memory here: only now it is known which rows they belong to."""
    rows = [size.rows for size in sizes]
    w = None if is_dask(weights) or isinstance(weights, str) else check_weights(weights, sum(rows))
    y = None if target is None or is_dask(target) or isinstance(target, str) else np.asarray(target)
    if w is None and y is None:
        return parts, sizes
    if y is not None and y.shape != (sum(rows),):
        raise ValueError(f"y has shape {y.shape}, expected {(sum(rows),)}: one for each row")
    from dask.delayed import delayed

    edges = np.cumsum(rows)[:-1]
    shares = [None] * len(rows) if w is None else np.split(w, edges)
    targets = [None] * len(rows) if y is None else np.split(y, edges)
    beside = delayed(Part.beside, pure=False)
    added = [beside(*each) for each in zip(parts, shares, targets, strict=True)]
    return measured(persisted(added, client, keep), client)
