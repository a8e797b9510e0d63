# SPDX-License-Identifier: MIT
"""The longest pause that a thread of the target sees, by its own clock, against what blip says of it.

The threads read the clock all the time. What they waited for a CPU is not counted; one CPU is left for blip.
"""
import os
import subprocess
import time

from .blip import Blip, BlipError
from .rows import Check, Row, skipped, summarize
from .scope import end

SECTION = "pauses"
TRACED_SECONDS = 0.1
RUNS = 3  # per attach of other rows


def rows(scope, settings):
    name = "longest pause a thread sees / what blip says"
    program = scope.program("bench_pauses")
    if not os.path.exists(program):
        return [skipped(SECTION, "pauses.seen", name, "bench_pauses is not built")]
    threads = max(1, len(os.sched_getaffinity(0)) - 1)
    target = scope.spawn([program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    if not target.stdout.readline().startswith(b"ready"):
        return [skipped(SECTION, "pauses.seen", name, "the program did not start")]
    try:
        pairs = [_measure(scope, target) for _ in range(RUNS * settings.attaches)]
    except BlipError as e:
        return [skipped(SECTION, "pauses.seen", name, str(e))]
    finally:
        end(target)
    return [_row("pauses.attach", name + ", attaching", [p[:2] for p in pairs]),
            _row("pauses.detach", name + ", leaving", [p[2:] for p in pairs])]


def _measure(scope, target):
    """ms: seen and said while attaching, seen and said while leaving."""
    _largest_gap(target)
    tracer = Blip(scope, "count", target.pid, ["--function", "work"], verbose=True)
    time.sleep(TRACED_SECONDS)
    attaching = _largest_gap(target)
    tracer.stop()
    return attaching, tracer.paused_ms, _largest_gap(target), tracer.detach_paused_ms


def _largest_gap(target):
    target.stdin.write(b"\n")
    return int(target.stdout.readline()) / 1e6


def _row(row_id, name, pairs):
    ratios = summarize([seen / said for seen, said in pairs])
    row = Row(SECTION, row_id, name, "x", **ratios)
    row.columns = {"most": max(seen / said for seen, said in pairs), "seen_ms": summarize([seen for seen, _ in pairs])["median"],
                   "said_ms": summarize([said for _, said in pairs])["median"]}
    row.checks = [Check("x what blip says", ratios["median"], 1.5, 1.0)]
    return row
