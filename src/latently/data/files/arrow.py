"""Tables as columns: Parquet and Feather, looked through before they are read."""

from pathlib import Path
from typing import Any

from latently.data.files import read as files
from latently.data.files.ipc import look_through
from latently.data.files.sample import FileTable, Reservoir, plain_types
from latently.data.tables.values import is_row_index

_ROWS = 65_536
# Columns as Parquet encodes them are hardly packed to less than one part in this many.
_PACKED = 16


def read_parquet(file: Path, max_rows: int | None, seed: int) -> FileTable:
    """Read a Parquet file: all of it, or a sample of its rows."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        schema, text = opened.schema_arrow, _text(opened.schema_arrow)
        names = files.check_names(file, list(schema.names))
        rows = files.fitting_rows(file, len(names), max_rows)
        _check_groups(file, opened.metadata, rows)
    kept = Reservoir(schema, rows, seed, files.most_bytes(rows))
    # A dictionary stays one until its size is known: a long value that is repeated takes a few bytes in the file.
    with pq.ParquetFile(file, read_dictionary=[schema.names[place] for place in text]) as opened:
        for batch in opened.iter_batches(batch_size=_ROWS):
            kept.add(_decoded(file, batch, schema, text))
    return _finished(file, kept, names)


def _text(schema: Any) -> list[int]:
    """Positions of the columns that are text."""
    import pyarrow as pa

    kinds = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
    return [place for place, field in enumerate(schema) if field.type in kinds]


def _check_groups(file: Path, about: Any, rows: int | None) -> None:
    """See how much the row groups say that they unpack to: all of them, and the largest."""
    # Not asked column by column: where those are damaged, asking ends the process.
    sizes = [about.row_group(place).total_byte_size for place in range(about.num_row_groups)]
    files.check_whole(file, sum(sizes), rows)
    if max(sizes, default=0) > max(files.MAX_AT_ONCE, _PACKED * file.stat().st_size):
        raise files.Unreadable(
            f"{file} unpacks to {max(sizes) / 2**30:.1f} GiB in one row group: write it with smaller row groups"
        )


def _decoded(file: Path, batch: Any, schema: Any, text: list[int]) -> Any:
    """Give the columns of a batch their own types again, if they fit into memory."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = batch.columns
    for place in text:
        column = columns[place]
        if not pa.types.is_dictionary(column.type):
            continue
        sizes = pc.binary_length(column.dictionary).cast(pa.int64()).take(column.indices)
        if (pc.sum(sizes).as_py() or 0) > files.MAX_AT_ONCE:
            raise files.Unreadable(
                f"column {schema.names[place]!r} of {file} repeats long values, and takes over "
                f"{files.MAX_AT_ONCE / 2**30:.1f} GiB in memory: shorten them, or leave the column out"
            )
        columns[place] = column.dictionary_decode().cast(schema.field(place).type)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def read_feather(file: Path, max_rows: int | None, seed: int) -> FileTable:
    """Read a Feather file: all of it, or a sample of its rows."""
    import pyarrow as pa

    size = file.stat().st_size
    with file.open("rb") as raw:
        declared = look_through(raw, size)
    with pa.memory_map(str(file)) as mapped, pa.ipc.open_file(mapped) as opened:
        names = files.check_names(file, list(opened.schema.names))
        rows = files.fitting_rows(file, len(names), max_rows)
        files.check_whole(file, declared.total, rows)
        if max(declared.largest, declared.dictionaries) > max(files.MAX_AT_ONCE, size):
            most = max(declared.largest, declared.dictionaries)
            raise files.Unreadable(
                f"{file} unpacks to {most / 2**30:.1f} GiB at a time: write it with smaller batches, or as Parquet"
            )
        kept = Reservoir(opened.schema, rows, seed, files.most_bytes(rows))
        for place in range(opened.num_record_batches):
            batch = opened.get_batch(place)
            batch.validate(full=True)  # offsets and places in dictionaries are followed without a look
            kept.add(batch)
        return _finished(file, kept, names)


def _finished(file: Path, kept: Reservoir, names: list[str]) -> FileTable:
    table = kept.table().rename_columns(names)
    table.validate(full=True)
    table = table.select([name for name in names if not is_row_index(name)] or names)
    _check_times(file, table)
    return FileTable(plain_types(table), kept.seen, kept.row_numbers())


def _check_times(file: Path, table: Any) -> None:
    """See that dates and times are within the years that Python knows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_temporal(column.type) or pa.types.is_interval(column.type):
            continue
        short = pa.types.is_date32(column.type) or pa.types.is_time32(column.type)
        ends = pc.min_max(column.cast(pa.int32() if short else pa.int64()))
        try:
            [ends[end].cast(column.type).as_py() for end in ("min", "max")]
        except (OverflowError, ValueError) as problem:
            raise files.Unreadable(
                f"column {name!r} of {file} holds a date or time that is out of range ({problem}): "
                "repair it (years are 1 to 9999), or leave the column out"
            ) from None
