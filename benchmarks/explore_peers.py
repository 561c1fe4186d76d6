"""What `explore`, skrub's TableReport and ydata-profiling say of the same five tables, and how long the page takes.

    python -m benchmarks.explore_peers [latently] [skrub] [ydata]

Each is warmed up by one table, and then timed on five, in CPU seconds from the frame to the page. ydata-profiling needs
an older setuptools (`pip install ydata-profiling "setuptools<81"`), so it may need an environment of its own.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn import datasets


def irises() -> pd.DataFrame:
    """Irises with planted faults: a code for missing, a slipped decimal point, values missing by size, copies."""
    bunch = datasets.load_iris(as_frame=True)
    table = bunch.data.copy()
    table["species"] = bunch.target_names[bunch.target]
    table.loc[table.sample(9, random_state=0).index, "petal width (cm)"] = -999.0
    table.loc[20, "sepal width (cm)"] *= 10
    large = table["petal length (cm)"] > 5.5
    table.loc[large & (np.arange(150) % 2 == 0), "sepal length (cm)"] = np.nan
    return pd.concat([table, table.iloc[[3, 77]]], ignore_index=True)


def orders() -> pd.DataFrame:
    """Orders with numbers and dates as text, spellings of one country, and copies."""
    rng = np.random.default_rng(0)
    n = 400
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    price = rng.lognormal(4, 0.6, n)
    table = pd.DataFrame(
        {
            "order": np.arange(1000, 1000 + n),
            "date": days.strftime("%d/%m/%Y"),
            "price": [f"€ {value:,.2f}" for value in price],
            "discount": [f"{value} %" for value in rng.integers(0, 30, n)],
            "country": rng.choice(
                ["Germany", "germany", "France", "FRANCE", "Spain"], n, p=[0.45, 0.05, 0.3, 0.05, 0.15]
            ),
            "paid": rng.choice(["yes", "no"], n),
        }
    )
    return pd.concat([table, table.iloc[:8]], ignore_index=True)


def tables() -> dict[str, pd.DataFrame]:
    """The five tables by name."""
    loaded = {
        "wine": datasets.load_wine,
        "breast cancer": datasets.load_breast_cancer,
        "diabetes": datasets.load_diabetes,
    }
    return {
        "irises with planted faults": irises(),
        **{name: load(as_frame=True).frame for name, load in loaded.items()},
        "orders as text": orders(),
    }


def latently(table: pd.DataFrame) -> list[str]:
    """The findings' sentences."""
    from latently import explore

    report = explore(table)
    report.to_html()
    return [entry["text"] for entry in report.to_dict()["insights"]]


def skrub(table: pd.DataFrame) -> list[str]:
    """Its strongest associations: it has no findings."""
    from skrub import TableReport

    report = TableReport(table, verbose=0)
    report.html()
    return [f"summary of {table.shape[1]} columns, associations of pairs; no findings in words"]


def ydata(table: pd.DataFrame) -> list[str]:
    """Its alerts."""
    from ydata_profiling import ProfileReport

    report = ProfileReport(table, progress_bar=False)
    report.to_html()
    return [str(alert) for alert in report.description_set.alerts]


PEERS: dict[str, Callable[[pd.DataFrame], list[str]]] = {"latently": latently, "skrub": skrub, "ydata": ydata}


def main() -> None:
    """Print what is said and how long it takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers", nargs="*", default=["latently", "skrub"], help=", ".join(PEERS))
    warnings.simplefilter("ignore")
    made = tables()
    for name in parser.parse_args().peers:
        PEERS[name](made["wine"])
        for title, table in made.items():
            began = time.process_time()
            said = PEERS[name](table)
            print(f"{name}, {title} ({table.shape[0]} x {table.shape[1]}): {time.process_time() - began:.2f} s")
            print("".join(f"    {line}\n" for line in said), flush=True)


if __name__ == "__main__":
    main()
