#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts the numbers of a run of bench/run.py into the tables of README.md and docs/costs.md.

    make bench                                     # on a quiet machine: all rows, with the peers
    bench/figures.py build/bench.json              # prints what would change
    bench/figures.py build/bench.json --write      # changes it

Only cells change whose rows the run has: take one full run, so that one table is of one machine and one day. The
sentences around the tables, which name machine and day, are for people to write; they are printed as a reminder. The exit
code is 1 if a row of the tables below is in no document any more.
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")


class Missing(Exception):
    """The run has not measured that."""


class Run:
    def __init__(self, rows):
        self.rows = {row["id"]: row for row in rows if not row["problem"]}

    def number(self, row_id, column):
        row = self.rows.get(row_id)
        value = row and (row[column] if column in ("min", "median") else row["columns"].get(column))
        if value is None:
            raise Missing(row_id)
        return value


def text_of(value):
    """As tables show it: three digits, or all of whole numbers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.0f}" if value >= 40 else f"{value:.1f}"


# ---- what a cell shows: functions of a run, which make its text ----

def number(row_id, column="min", form="{}"):
    return lambda run: form.format(text_of(run.number(row_id, column)))


def several(row_ids, column="min", between=" / "):
    return lambda run: between.join(text_of(run.number(row_id, column)) for row_id in row_ids)


def extent(row_ids, form=text_of, over=None):
    """From the least to the most of several rows, or one number if they agree; `over`: as parts of that row."""
    def show(run):
        whole = run.number(over, "min") if over else 1
        values = [run.number(row_id, "min") / whole for row_id in row_ids]
        return " to ".join(dict.fromkeys([form(min(values)), form(max(values))]))
    return show


FLOOR = "event.floor.rseq_event"


def ratios(row_ids):
    return lambda run: " / ".join(f"{run.number(row_id, 'min') / run.number(FLOOR, 'min'):.0f}" for row_id in row_ids)


def ratio(row_id):
    return extent([row_id], "{:.1f}".format, FLOOR)


def event(row_id, **more):
    return {1: number(row_id), 2: ratio(row_id), **more}


ENTRIES = ["event.blip.mov", "event.blip.push", "event.blip.nop5"]
UPROBES = ["event.bpftrace.count.nop5", "event.bpftrace.count.push", "event.bpftrace.count.mov"]
COUNTS = (1, 10, 100, 1000, 5000)


def attached(row_id):
    ms = "{} ms"
    return {1: number(row_id, "median", ms), 2: number(row_id, "pause", ms), 3: number(row_id, "detach", ms)}


# Document, how the first cell of the line begins, and what its other cells show. "label" is a number in the first cell itself:
# what stands before it, and what it shows.
LINES = [
    ("docs/costs.md", "rdtsc alone", {1: number("event.floor.rdtsc")}),
    ("docs/costs.md", "floor: timestamp, id and int", {1: number(FLOOR)}),
    ("docs/costs.md", "**blip, function entry with", {1: lambda run: f"**{extent(ENTRIES)(run)}**", 2: lambda run: f"**{extent(ENTRIES, '{:.1f}'.format, FLOOR)(run)}**"}),
    ("docs/costs.md", "blip, any instruction inside", event("event.blip.inside")),
    ("docs/costs.md", "blip, with pid and thread id", event("event.blip.pid_tid")),
    ("docs/costs.md", "blip, an int and a string", {**event("event.blip.string"), "label": ("static: ", number("event.lttng.string"))}),
    ("docs/costs.md", "blip, a filter that is false", {1: number("event.blip.filter")}),
    ("docs/costs.md", "blip, with a backtrace", event("backtrace.event")),
    ("docs/costs.md", "blip, shared ring", event("event.blip.shared")),
    ("docs/costs.md", "blip, result and latency", event("event.blip.return")),
    ("docs/costs.md", "LTTng-UST *static* tracepoint", event("event.lttng")),
    ("docs/costs.md", "uftrace, built for it", event("event.uftrace.mcount")),
    ("docs/costs.md", "kernel uprobe, bpftrace count", {1: several(UPROBES), 2: ratios(UPROBES)}),
    ("docs/costs.md", "gdb fast tracepoint, registers", event("event.gdb.register")),
    ("docs/costs.md", "kernel uprobe and uretprobe", event("event.bpftrace.latency.push")),
    ("docs/costs.md", "blip count", {1: number("event.blip.count")}),
    ("docs/costs.md", "blip count --latency", {1: number("event.blip.latency"), "label": ("alone: ", number("event.floor.rdtsc_twice"))}),
    *(("docs/costs.md", f"{n}", {1: number(f"attach.{n}", "instrumentation"), 2: number(f"attach.{n}", "registration"),
                                 3: number(f"attach.{n}", "pause")}) for n in COUNTS),
    ("docs/costs.md", "10 functions of a 2 MB program", attached("attach.10")),
    ("docs/costs.md", "5000 functions of it", attached("attach.5000")),
    ("docs/costs.md", "1 function of gdb", attached("attach.gdb")),
    ("docs/costs.md", "1 function of node", attached("attach.node")),
    ("docs/costs.md", "1000 functions of a PostgreSQL backend", attached("attach.postgres")),
    ("README.md", "reading the clock alone", {1: number("event.floor.rdtsc", form="{} ns")}),
    ("README.md", "an event with a register", {1: number("event.blip.reg", form="{} ns")}),
    ("README.md", "a call counted", {1: number("event.blip.count", form="{} ns")}),
    ("README.md", "a filter that is false", {1: number("event.blip.filter", form="{} ns")}),
    ("README.md", "result and latency at the return", {1: number("event.blip.return", form="{} ns")}),
    ("README.md", "an int and a string by name", {1: number("event.blip.string", form="{} ns")}),
    ("README.md", "a backtrace of ten frames", {1: number("backtrace.event", form="{} ns")}),
    ("README.md", "attaching to 10 functions", {
        1: lambda run: f"{text_of(run.number('attach.10', 'median'))} ms / {text_of(run.number('attach.10', 'pause'))} ms"}),
]


def is_line(line, begin, cells):
    """A table's line whose first cell begins so; of a number, is that, in a table with as many columns."""
    if not line.startswith("| " + begin):
        return False
    return not begin.isdigit() or (line.startswith(f"| {begin} |") and line.count("|") == 2 + max(cells))


def filled(line, cells, run):
    parts = line.split("|")
    for at, show in cells.items():
        if at == "label":
            before, show = show
            parts[1] = re.sub(re.escape(before) + r"[\d.,]+\d", lambda _: before + show(run), parts[1])
        else:
            parts[at + 1] = f" {show(run)} "
    return "|".join(parts)


def refresh(text, lines, run):
    """The new text, and the beginnings of lines that are not in it, and of rows that the run has not."""
    absent, missing = [], []
    out = text.split("\n")
    for begin, cells in lines:
        columns = {k: v for k, v in cells.items() if k != "label"}
        found = [i for i, line in enumerate(out) if is_line(line, begin, columns)]
        # "blip count" begins another line too: the shortest first cell is meant.
        at = min(found, key=lambda i: len(out[i].split("|")[1]), default=None)
        if at is None:
            absent.append(begin)
            continue
        try:
            out[at] = filled(out[at], cells, run)
        except Missing as e:
            missing.append(f"{begin} ({e})")
    return "\n".join(out), absent, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=pathlib.Path, help="what bench/run.py wrote: BUILD/bench.json")
    parser.add_argument("--write", action="store_true", help="change the documents")
    options = parser.parse_args()
    measured = json.loads(options.json.read_text())
    run, facts = Run(measured["rows"]), measured["machine"]
    lost = []
    for name in dict.fromkeys(document for document, *_ in LINES):
        path = ROOT / name
        old = path.read_text()
        new, absent, missing = refresh(old, [line[1:] for line in LINES if line[0] == name], run)
        lost += [f"{name}: no line begins with '{begin}'" for begin in absent]
        for before, after in zip(old.split("\n"), new.split("\n")):
            if before != after:
                print(f"{name}\n  - {before}\n  + {after}")
        for begin in missing:
            print(f"{name}: not measured, left: {begin}")
        for number_of_line, line in enumerate(new.split("\n"), 1):
            if DATE.search(line):
                print(f"{name}:{number_of_line}: names a day: {line.strip()[:120]}")
        if options.write:
            path.write_text(new)
    print(f"the run: {facts['date']}, {facts['cpu']}, {facts['cpus']} cpus, kernel {facts['kernel']}, load {facts['load_before']:.1f}, {facts['mode']}")
    if lost:
        sys.exit("\n".join(lost))


if __name__ == "__main__":
    main()
