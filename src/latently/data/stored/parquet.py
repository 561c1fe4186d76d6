"""Files of columns (Parquet, CSV) as a stream of Arrow batches: only the columns and rows that are asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from latently.data.sources.paths import FileError, PathLike, find_files, naming
from latently.data.tables.values import quote

_BATCH: Final = 32768  # rows decoded at a time: large enough to pay, small enough to wait in memory
_NEED: Final = "reading files needs pyarrow: install latently[parquet]"


def pyarrow() -> Any:
    """Import pyarrow with what the readers use of it; an error says how to get it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.dataset
    except ImportError as problem:  # pragma: no cover - the tests have it
        raise ImportError(_NEED) from problem
    return pyarrow


def as_expression(filters: Any) -> Any:
    """Give filters as an Arrow expression: one already, or tuples such as ``[("age", ">", 30)]``; None for none."""
    if filters is None:
        return None
    pa = pyarrow()
    if isinstance(filters, pa.compute.Expression):
        return filters
    import pyarrow.parquet as pq

    try:
        return pq.filters_to_expression(filters)
    except (TypeError, ValueError) as problem:
        raise ValueError(
            f"filters must be an Arrow expression or tuples like ('age', '>', 30), got {filters!r}: {problem}"
        ) from None


@dataclass(frozen=True, eq=False)
class FileReader:
    """Reads tables that are spread over files, one file after the other.

    The files must agree in the columns that are read: each is there in all of them, and is text in all of
    them or a number in all of them.

    Parameters
    ----------
    where
        File, folder, pattern, or list of those.
    filters
        Rows to read, as an Arrow expression; None for all.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.mkdtemp()
    >>> pq.write_table(pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]}), folder + "/t.parquet")
    >>> reader = FileReader(folder, as_expression([("a", ">", 1)]))
    >>> reader.schema.names, reader.count()
    (['a', 'b'], 2)
    """

    where: PathLike | Sequence[PathLike]
    filters: Any = None
    _counted: dict[str, int] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files, in the order in which they are read."""
        return tuple(find_files(self.where)[0])

    @cached_property
    def _format(self) -> Any:
        kind, dataset = find_files(self.where)[1], pyarrow().dataset
        return dataset.ParquetFileFormat() if kind == "parquet" else dataset.CsvFileFormat()

    @cached_property
    def schemas(self) -> tuple[Any, ...]:
        """Columns and types of each file, from its metadata."""
        found = []
        for file in self.files:
            with naming(file):
                found.append(self._fragment(file, self._format).physical_schema)
        return tuple(found)

    @property
    def schema(self) -> Any:
        """Columns and types of the first file."""
        return self.schemas[0]

    def count(self) -> int:
        """Number of rows that pass the filters; for Parquet without filters the metadata have it."""
        for file in self.files:
            if file not in self._counted:
                with naming(file):
                    self._counted[file] = self._fragment(file, self._format).count_rows(filter=self.filters)
        return sum(self._counted.values())

    def check(self, names: Sequence[str]) -> None:
        """See that every file has these columns, and of one kind."""
        for file, schema in zip(self.files, self.schemas, strict=True):
            check_alike(file, schema, names, self.files[0], self.schema)

    def batches(self, names: Sequence[str], numbers: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
        """Give the columns batch by batch, each with the file that it comes from.

        Parameters
        ----------
        names
            The columns.
        numbers
            Those of them that will be floats: a CSV file may have a fraction where its first rows had none.
        """
        form = self._typed(numbers)
        for file in self.files:
            with naming(file):
                for batch in self._scan(file, form, names):
                    if batch.num_rows:
                        yield file, batch

    def _scan(self, file: str, form: Any, names: Sequence[str]) -> Iterator[Any]:
        fragment = self._fragment(file, form)
        scanner = fragment.scanner(
            columns=list(names),
            filter=self.filters,
            batch_size=_BATCH,
            batch_readahead=2,
            fragment_readahead=1,
            fragment_scan_options=self._scanning(),
        )
        yield from scanner.to_batches()

    def _fragment(self, file: str, form: Any) -> Any:
        import pyarrow.fs

        return form.make_fragment(file, filesystem=pyarrow.fs.LocalFileSystem())

    def _scanning(self) -> Any:
        dataset = pyarrow().dataset
        if not isinstance(self._format, dataset.ParquetFileFormat):
            return None
        # Pages are decoded as they come, a row group is never held whole; checksums are compared where there are any.
        return dataset.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True, page_checksum_verification=True
        )

    def _typed(self, numbers: Sequence[str]) -> Any:
        """Give the columns of a CSV file the types that they have in the first file, but for numbers."""
        pa = pyarrow()
        if isinstance(self._format, pa.dataset.ParquetFileFormat):
            return self._format
        wide = {"int64", "null"}
        types = {f.name: pa.float64() if f.name in numbers and str(f.type) in wide else f.type for f in self.schema}
        return pa.dataset.CsvFileFormat(convert_options=_csv_options(types))


def _csv_options(types: dict[str, Any]) -> Any:
    import pyarrow.csv

    return pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True)


def check_alike(file: str, schema: Any, names: Sequence[str], first: str, expected: Any) -> None:
    """Refuse a schema that lacks one of the columns, or has it as another kind than the first file has."""
    absent = [name for name in names if schema.get_field_index(name) < 0]
    if absent:
        raise FileError(file, f"has no column {quote(absent)}, only {quote(schema.names, 10)}")
    for name in names:
        mine, theirs = schema.field(name).type, expected.field(name).type
        if kind_of(mine) != kind_of(theirs) and "null" not in (kind_of(mine), kind_of(theirs)):
            raise FileError(file, f"column {name!r} is {mine}, but {theirs} in {first}: write both as one type")


def kind_of(type_: Any) -> str:
    """Tell numbers, text, truth values, dates and times, and nothing at all apart."""
    types = pyarrow().types
    if types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return "number"
    if types.is_boolean(type_):
        return "truth"
    if types.is_null(type_):
        return "null"
    if types.is_temporal(type_):
        return "date"
    text = types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
    return "text" if text else "other"
