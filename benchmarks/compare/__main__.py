"""Usage: python -m benchmarks.compare [NAME ...] [--list] [--no-growth] [--rows-share S] [--json FILE]

A name selects every contest that starts with it. Growth is the exponent e of seconds ~ rows^e, between half and twice
the rows, at a fixed number of iterations; linear is 1. The exit code is 1 if an answer differs or a goal is missed.
"""

import argparse
import json
import platform
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import predict_compare
from benchmarks.compare import cluster
from benchmarks.compare.harness import Result, compare, table, verdict

ROOMS = (cluster, predict_compare)
PACKAGES = ("latently", "numpy", "scipy", "numba", "scikit-learn", "pomegranate", "hmmlearn", "stepmix")


def installed() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write(results: list[Result], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "packages": installed(),
        "results": [result.to_dict() for result in results],
    }
    path.write_text(json.dumps(record, indent=1))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true", help="name the contests and stop")
    parser.add_argument("--no-growth", action="store_true", help="do not time half and twice the rows")
    parser.add_argument("--rows-share", type=float, default=1.0, help="take this share of the rows (to try it out)")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/compare.json"))
    options = parser.parse_args(argv)
    contests = [contest for room in ROOMS for contest in room.contests()]
    if options.list:
        print("\n".join(contest.name for contest in contests))
        return 0
    chosen = [c for c in contests if not options.names or c.name.startswith(tuple(options.names))]
    if not chosen:
        print(f"no contest is named {options.names}: see --list", file=sys.stderr)
        return 2
    results = []
    for contest in chosen:
        smaller = replace(contest, rows=max(int(contest.rows * options.rows_share), 50))
        results.append(compare(smaller, growth=not options.no_growth))
        lines = table(results[-1:]).splitlines()
        print("\n".join(lines[1:] if results[1:] else lines), flush=True)
    write(results, options.json)
    return verdict(results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
