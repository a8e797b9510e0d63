#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures blip beside the floor of the machine and LTTng-UST, in one run.

Prints one table and writes BUILD/bench.json. Times are CPU times of the traced thread, so a busy machine disturbs them
little; still, run it on a quiet one. `--only` takes sections: floor lttng blip attach drain coverage.
"""
import argparse
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time

from harness import attach, blip, coverage, drain, lttng, machine, per_event, report
from harness.rows import skipped
from harness.scope import Scope
from harness.target import TargetError

SECTIONS = ("floor", "lttng", "blip", "attach", "drain", "coverage")


@dataclasses.dataclass
class Settings:
    seconds: int = 360  # the whole run is over by then
    rounds: int = 24
    bursts: int = 5
    attaches: int = 7
    drain_seconds: float = 3.0
    coverage_timeout: float = 60.0
    no_lttng: str = None  # why not


QUICK = Settings(seconds=60, rounds=5, bursts=4, attaches=2, drain_seconds=1.0, coverage_timeout=10.0)


class OutOfTime(Exception):
    pass


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("--quick", action="store_true", help="fewer samples, at most a minute")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="SECTION")
    parser.add_argument("--text", metavar="FILE", help="write the table there too")
    return parser.parse_args()


def build_programs(build):
    if os.path.exists(os.path.join(build, "CMakeCache.txt")):
        subprocess.run(["cmake", "--build", build, "--target", "bench_programs"], check=True,
                       stdout=subprocess.DEVNULL)


def end_on_signals(seconds):
    def out_of_time(*_):
        raise OutOfTime(f"out of time after {seconds} s")

    def terminated(number, _):
        sys.exit(128 + number)

    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(seconds)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, terminated)


def measure(scope, settings, wanted):
    """All rows; a section that fails leaves a row saying why and does not stop the others."""
    jobs = []
    if {"floor", "lttng", "blip"} & set(wanted):
        jobs.append(("per event", lambda: per_event.PerEvent(scope, settings, wanted).rows()))
    for name, section in (("attach", attach), ("drain", drain), ("coverage", coverage)):
        if name in wanted:
            jobs.append((name, lambda s=section: s.rows(scope, settings)))
    rows, late = [], None
    for name, job in jobs:
        print(f"bench: measuring {name}", file=sys.stderr)
        try:
            rows += job() if not late else [skipped(name, name, name, late)]
        except OutOfTime as e:
            late = str(e)
            rows.append(skipped(name, name, name, late))
        except (TargetError, blip.BlipError, lttng.LttngError, OSError, subprocess.SubprocessError) as e:
            rows.append(skipped(name, name, name, f"{type(e).__name__}: {e}"))
    return rows


def lttng_version():
    if not shutil.which("lttng"):
        return "no LTTng"
    done = subprocess.run(["lttng", "--version"], capture_output=True, text=True, check=False)
    return "LTTng " + (done.stdout.split(")")[-1].split() or ["?"])[0]


def main():
    options = parse()
    build = os.path.abspath(options.build)
    settings = QUICK if options.quick else Settings()
    build_programs(build)
    begin = time.monotonic()
    end_on_signals(settings.seconds - 5)
    path = blip.find(build)
    facts = dict(machine.facts(), mode="quick" if options.quick else "full", lttng=lttng_version(),
                 blip=blip.version(path) if path else "blip not built")
    with Scope(build) as scope:
        if "lttng" in options.only:
            try:
                lttng.isolate(scope)
            except (lttng.LttngError, OSError) as e:
                settings.no_lttng = str(e)
        rows = measure(scope, settings, options.only)
        signal.alarm(0)
    facts.update(load_after=os.getloadavg()[0], seconds=time.monotonic() - begin)
    text = report.table(facts, rows)
    report.write_json(os.path.join(build, "bench.json"), facts, rows)
    if options.text:
        with open(options.text, "w", encoding="utf-8") as f:
            f.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
