"""Plants small bugs, one at a time, and tells which of them the tests notice.

    python -m tests.mutants                      every mutant of tests/mutants/*.toml
    python -m tests.mutants --only sequence      those of one file, or those whose name contains the word
    python -m tests.mutants --need 0.92          exit 1 if a smaller share is caught

A mutant has `name`, `file` (below src/latently), `old` (stands once in that file), `new`, `tests` (paths that are
run until one fails) and, if no test can notice it, `survives`: the reason. Sources are copied; the checkout is
not touched.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Mutant:
    """One planted bug."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]
    area: str
    survives: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the tests said of one mutant: caught, survived, or stale (it no longer fits the source)."""

    mutant: Mutant
    verdict: str
    detail: str = field(default="")


def all_mutants() -> list[Mutant]:
    """The mutants of every file, with names that are unique."""
    found = [
        Mutant(**entry, area=path.stem)
        for path in sorted(HERE.glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    ]
    names = [mutant.name for mutant in found]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise SystemExit(f"names that stand twice: {', '.join(repeated)}")
    return found


def outcome(mutant: Mutant, seconds: float) -> Outcome:
    """Plant the bug in a copy of the sources and run the tests that should notice it."""
    text = (ROOT / "src" / "latently" / mutant.file).read_text(encoding="utf-8")
    if text.count(mutant.old) != 1 or mutant.old == mutant.new:
        return Outcome(mutant, "stale", f"the old text stands {text.count(mutant.old)} times in {mutant.file}")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        changed = Path(folder) / "src" / "latently" / mutant.file
        changed.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
        environment = os.environ | {"PYTHONPATH": str(Path(folder) / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                [*command, *mutant.tests], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return Outcome(mutant, "caught", f"no end within {seconds:.0f} s")
    return read(mutant, done)


def read(mutant: Mutant, done: subprocess.CompletedProcess[str]) -> Outcome:
    """The verdict behind pytest's exit code: 0 is a survivor, 1 a failed test, all else a mutant set up wrongly."""
    last = (done.stdout.strip() or done.stderr.strip() or "no output").splitlines()[-1]
    if done.returncode == 0:
        return Outcome(mutant, "survived", mutant.survives)
    if done.returncode == 1 or (done.returncode == 2 and "error" in last):
        return Outcome(mutant, "caught", last)
    return Outcome(mutant, "stale", f"pytest ended with {done.returncode}: {last}")


def main() -> int:
    """Run the mutants asked for; print a line each and the share that was caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="the file or a part of the name")
    parser.add_argument("--need", type=float, default=0.92, help="the share that must be caught")
    parser.add_argument("--jobs", type=int, default=1, help="how many at once")
    parser.add_argument("--seconds", type=float, default=900, help="the longest that one may take")
    asked = parser.parse_args()
    chosen = [mutant for mutant in all_mutants() if asked.only == mutant.area or asked.only in mutant.name]
    results = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        for result in pool.map(lambda mutant: outcome(mutant, asked.seconds), chosen):
            results.append(result)
            print(f"{result.verdict:9} {result.mutant.area}/{result.mutant.name}  {result.detail}", flush=True)
    caught = sum(result.verdict == "caught" for result in results)
    stale = sum(result.verdict == "stale" for result in results)
    print(f"{caught} of {len(results)} caught, {stale} stale")
    return int(stale > 0 or not results or caught < asked.need * len(results))


if __name__ == "__main__":
    raise SystemExit(main())
