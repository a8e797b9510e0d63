# SPDX-License-Identifier: MIT
"""What a backtrace of ten frames costs: blip's walk without frame pointers, a chain of frame pointers, glibc's backtrace()."""
import json
import os
import statistics
import subprocess

from . import blip
from .rows import Check, Row, skipped
from .target import Target, TargetError

SECTION = "backtrace"
FRAMES = 10
BURSTS, CALLS = 20, 1000
MUST_NS, REACH_NS = 400, 200
LABELS = {"blip": "blip, tables made of .eh_frame", "blip, no cache": "the same, nothing looked up before", "frame pointers": "floor: a chain of frame pointers", "glibc": "glibc's backtrace()"}


def rows(scope, _settings):
    program = os.path.join(scope.build, "bench", "blip_backtrace_bench")
    if not os.access(program, os.X_OK):
        return [skipped(SECTION, "backtrace", "stack of ten frames", "blip_backtrace_bench is not built")]
    done = subprocess.run([program, str(FRAMES)], capture_output=True, text=True, timeout=60, check=True)
    return [_row(json.loads(line)) for line in done.stdout.splitlines()] + [_event_row(scope)]


def _event_row(scope):
    """All of it: pad, walk, id, record, over the same call untraced."""
    name, label = "backtrace.event", "an event with its backtrace, end to end"
    try:
        target = Target(scope, "bench_stacks")
        plain = target.run("stack", BURSTS, CALLS, 2)
        tracer = blip.Blip(scope, "record", target.pid, ["--function", "stack_leaf", "--context", "backtrace"])
        target.run("stack", 2, CALLS, 30)  # what can be read is known by then
        traced = target.run("stack", BURSTS, CALLS, 5)
        target.end()
        tracer.child.wait(30)
    except (TargetError, blip.BlipError, OSError, subprocess.SubprocessError) as e:
        return skipped(SECTION, name, label, str(e))
    middle = statistics.median(traced) - statistics.median(plain)
    row = Row(SECTION, name, label, "ns", FRAMES, round(min(traced) - min(plain), 1), round(middle, 1))
    row.checks.append(Check("ns", min(traced) - min(plain), MUST_NS, REACH_NS))
    return row


def _row(answer):
    row = Row(SECTION, "backtrace." + answer["what"].replace(", ", "_").replace(" ", "_"), f"{LABELS[answer['what']]}, {answer['frames']} frames", "ns",
              answer["frames"], answer["min"], answer["median"])
    row.columns = {"ns per frame": round(answer["min"] / answer["frames"], 1)}
    if answer["what"] == "blip":
        row.checks.append(Check("ns", answer["min"], MUST_NS, REACH_NS))
    return row
