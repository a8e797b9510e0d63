#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures blip beside the floor of the machine and its peers, in one run.

Prints one table and writes BUILD/bench.json. Times per event are CPU times of the traced thread, so a busy machine
disturbs them little; all else wants a quiet one. `--only TEXT` takes the measurements whose name contains it
(`--list` names them): `--only life.pgbench`, `--only event.lttng threads`.
"""
import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback

import life
import peers
from harness import attach, backtrace, blip, coverage, curve, detach, drain, dwarf, engine, forks, interpreter, machine, namespace, pauses, per_event, report, scale, threads
from harness.rows import skipped
from harness.scope import Scope
from harness.settings import FULL, QUICK, OutOfTime

JOBS = [  # name, what it contains, how many seconds it may take in a full run
    ("event", [f"event.{p.NAME}" for p in peers.ALL], lambda s, o: per_event.PerEvent(s, o).rows(), 240),
    ("threads", [f"threads.{n}" for n in threads.NAMES], threads.rows, 150),
    ("curve", [f"curve.{n}" for n in curve.NAMES], curve.rows, 90),
    ("attach", [], attach.rows, 60),
    ("scale", [], scale.rows, 60),
    ("detach", [], detach.rows, 60),
    ("fork", [], forks.rows, 60),
    ("pauses", [], pauses.rows, 60),
    ("drain", [], drain.rows, 30),
    ("coverage", [], coverage.rows, 60),
    ("backtrace", [], backtrace.rows, 30),
    ("interpreter", [], interpreter.rows, 10),
    ("engine", [], engine.rows, 10),
    ("dwarf", [], dwarf.rows, 60),
] + [(f"life.{w.NAME}", [], lambda s, o, w=w: life.rows(s, o, w), 150) for w in life.WORKLOADS]
RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
TOOLS = {"lttng": ["lttng", "--version"], "bpftrace": ["bpftrace", "--version"], "perf": ["perf", "--version"],
         "uftrace": ["uftrace", "--version"], "gdb": ["gdb", "--version"]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("--quick", action="store_true", help="fewer samples and smaller sizes, about two minutes")
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="only what has TEXT in its name")
    parser.add_argument("--list", action="store_true", help="name the measurements")
    parser.add_argument("--numbers", action="store_true", help="fail if a row has no numbers, whatever they are")
    parser.add_argument("--keep", action="store_true", help="write bench/results/DATE.txt and .json too")
    parser.add_argument("--text", metavar="FILE", help="write the table there too")
    parser.add_argument("--json", metavar="FILE", help="write the JSON there (default: BUILD/bench.json)")
    return parser.parse_args()


def build_programs(build):
    if os.path.exists(os.path.join(build, "CMakeCache.txt")):
        subprocess.run(["cmake", "--build", build, "--target", "bench_programs"], check=True,
                       stdout=subprocess.DEVNULL)


def end_on_signals():
    def out_of_time(*_):
        raise OutOfTime("out of time")

    def terminated(number, _):
        sys.exit(128 + number)

    signal.signal(signal.SIGALRM, out_of_time)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, terminated)


def measure(build, settings):
    """All rows; a job that fails or is late leaves a row saying why and does not stop the others."""
    rows, stop = [], time.monotonic() + settings.seconds
    for name, parts, job, limit in JOBS:
        if not (settings.wanted(name) or any(settings.wanted(p) for p in parts)):
            continue
        left = int(min(limit, stop - time.monotonic()))
        section = {"event": per_event.SECTION}.get(name, name.split(".")[0])
        if left < 5:
            rows.append(skipped(section, name, name, f"not begun: {settings.seconds} s are over"))
            continue
        print(f"bench: measuring {name}", file=sys.stderr)
        rows += _guarded(build, settings, section, name, job, left)
    return rows


def _guarded(build, settings, section, name, job, seconds):
    try:
        with Scope(build) as scope:
            signal.alarm(seconds)
            try:
                return job(scope, settings)
            finally:
                signal.alarm(0)
    except OutOfTime:
        return [skipped(section, name, name, f"not done after {seconds} s")]
    except Exception as e:  # whatever it is, the other measurements go on
        traceback.print_exc()
        return [skipped(section, name, name, f"{type(e).__name__}: {e}")]


def rows_without_numbers(rows):
    """Names of rows that were not measured; of all if there is none."""
    without = [r.name for r in rows if r.min is None and not any(isinstance(v, (int, float)) for v in r.columns.values())]
    return without if rows else ["there is no row"]


def versions():
    found = {}
    for name, argv in TOOLS.items():
        if shutil.which(argv[0]):
            done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)
            found[name] = (done.stdout.strip() or "unknown").split("\n")[0]
        else:
            found[name] = "not installed"
    return found


def main():
    options = parse()
    if options.list:
        print("\n".join(part for name, parts, *_ in JOBS for part in parts or [name]))
        return
    build = os.path.abspath(options.build)
    settings = QUICK if options.quick else FULL
    settings.only = options.only
    build_programs(build)
    begin = time.monotonic()
    end_on_signals()
    path = blip.find(build)
    facts = dict(machine.facts(), mode="quick" if options.quick else "full", only=options.only, tools=versions(),
                 blip=blip.version(path) if path else "blip not built")
    with contextlib.ExitStack() as stack:
        try:
            namespace.isolate(stack)
        except (namespace.NamespaceError, OSError) as e:
            settings.unavailable["lttng"] = str(e)
        rows = measure(build, settings)
    facts.update(load_after=os.getloadavg()[0], seconds=time.monotonic() - begin)
    text = report.table(facts, rows)
    kept = os.path.join(RESULTS, facts["date"].split()[0])
    for path in [options.json or os.path.join(build, "bench.json")] + [f"{kept}.json"] * options.keep:
        report.write_json(path, facts, rows)
    for path in [options.text] * bool(options.text) + [f"{kept}.txt"] * options.keep:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    print(text, end="")
    if options.numbers and (without := rows_without_numbers(rows)):
        sys.exit("bench: no numbers: " + ", ".join(without))


if __name__ == "__main__":
    main()
