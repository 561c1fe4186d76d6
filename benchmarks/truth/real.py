"""How many facts about real tables are among the first findings, and what is found in permuted ones."""

import time

import numpy as np
import pandas as pd

from benchmarks.truth.classics import CLASSICS, FROZEN
from benchmarks.truth.facts import CHECKING, TUNING
from benchmarks.truth.fresh import HELD_OUT, LEARNING
from benchmarks.truth.load import Absent, load, permuted
from benchmarks.truth.textbooks_a import TEXTBOOKS_A
from benchmarks.truth.textbooks_b import TEXTBOOKS_B
from benchmarks.truth.textbooks_c import TEXTBOOKS_C
from latently.report import explore

FIRST, NAMED = 5, 8
FACTS_FOUND, FALSE_FINDINGS = 0.8, 1 / 20
PAIRS = ("dependency", "determines", "redundant", "reversal", "target", "leakage")
# what a single column shows stays true when columns are permuted
PARTS = {"tuning": TUNING, "checking": CHECKING, "learning": LEARNING, "held_out": HELD_OUT}
PARTS |= {"classics": CLASSICS, "frozen": FROZEN}
PARTS |= {"textbooks_a": TEXTBOOKS_A, "textbooks_b": TEXTBOOKS_B, "textbooks_c": TEXTBOOKS_C}
OF_ONE_COLUMN = ("missing_code", "spelling", "identifier", "redundant")


def is_told(fact, insights):
    """Whether a finding of the kind names the columns, has the words, and lists the rows."""
    kinds, columns, words, rows = fact
    allowed = PAIRS if kinds == "pair" else kinds.split("/")
    return any(
        insight["finding"] in allowed
        and set(columns) <= set(insight["columns"][:NAMED])
        and words in insight["text"]
        and set(rows) <= set(insight["rows"] or ())
        for insight in insights
    )


def is_false(insight, frame):
    """Whether a finding in a permuted table is more than one column shows by itself."""
    if insight["kind"] == "nothing" or insight["finding"] in OF_ONE_COLUMN:
        return False
    if insight["finding"] == "duplicates":
        return not frame.duplicated().any()
    return insight["finding"] not in ("anomaly", "clusters") or len(insight["columns"]) > 1


def first_findings(frame, options):
    try:
        return explore(frame, **options).to_dict()["insights"]
    except ValueError as refusal:  # a target known in too few rows: its facts are missed
        print(f"    refused: {refusal}")
        return []


def check(table, folder, verbose):
    """Facts told and all facts of a table, and the false findings in its permuted copy."""
    frame = load(table.place, folder)
    frame = table.prepare(frame) if table.prepare else frame
    found = first_findings(frame, table.options)
    told = [is_told(fact, found[:FIRST]) for fact in table.facts]
    shuffled = permuted(frame, np.random.default_rng(0))
    if "time" in table.options:  # the moments stay where they are
        shuffled[table.options["time"]] = frame[table.options["time"]]
    wrong = [each for each in first_findings(shuffled, table.options) if is_false(each, shuffled)]
    if verbose:
        _show(table, told, found, wrong)
    return sum(told), len(told), wrong


def _show(table, told, found, wrong):
    for place, each in enumerate(found, 1):
        print(f"    {place}. {each['finding']}: {each['text']}")
    for fact, is_there in zip(table.facts, told, strict=True):
        if not is_there:
            print(f"    missed: {fact}")
    for each in wrong:
        print(f"    false in the permuted table: {each['finding']}: {each['text']}")


def run(folder=None, only=(), verbose=False):
    """Print a line for each table and the two figures; give whether both goals are reached."""
    pd.set_option("mode.copy_on_write", True)
    lines, left_out = [], []
    print("| table | facts told in the first five findings | false findings when permuted |\n|---|---|---|")
    for part, tables in PARTS.items():
        for table in tables:
            if only and not any(word in (part, *table.place.split("/")) for word in only):
                continue
            began = time.process_time()
            try:
                told, facts, wrong = check(table, folder, verbose)
            except Absent as reason:
                left_out.append(str(reason))
                continue
            lines.append((part, told, facts, len(wrong)))
            took = time.process_time() - began
            print(f"| {table.place} | {told} of {facts} | {len(wrong)} |  {took:.1f} s", flush=True)
    return _judged(lines, left_out)


def _judged(lines, left_out):
    for reason in left_out:
        print(f"left out: {reason}")
    good = bool(lines)
    for name, parts in ({part: (part,) for part in PARTS} | {"all": tuple(PARTS)}).items():
        some = [line for line in lines if line[0] in parts]
        if not some:
            continue
        share = sum(line[1] for line in some) / sum(line[2] for line in some)
        wrong = sum(line[3] for line in some) / len(some)
        print(
            f"{name}: {len(some)} tables, {100 * share:.0f} % of the facts (goal {100 * FACTS_FOUND:.0f} %), ", end=""
        )
        print(f"{wrong:.3f} false findings per permuted table (goal {FALSE_FINDINGS:.3f})")
        if name == "all":
            good = good and share >= FACTS_FOUND and wrong <= FALSE_FINDINGS
    return good
