"""Files to tables and back: CSV, TSV, Parquet, Feather and Excel in; Parquet out."""

from latently.data.files.read import read_table

__all__ = ["read_table"]
