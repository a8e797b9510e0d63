# SPDX-License-Identifier: MIT
"""What a backtrace of ten frames costs: blip's walk without frame pointers, a chain of frame pointers, glibc's backtrace()."""
import json
import os
import subprocess

from .rows import Check, Row, skipped

SECTION = "backtrace"
FRAMES = 10
MUST_NS, REACH_NS = 400, 200
LABELS = {"blip": "blip, tables made of .eh_frame", "blip, no cache": "the same, nothing looked up before", "frame pointers": "floor: a chain of frame pointers", "glibc": "glibc's backtrace()"}


def rows(scope, _settings):
    program = os.path.join(scope.build, "bench", "blip_backtrace_bench")
    if not os.access(program, os.X_OK):
        return [skipped(SECTION, "backtrace", "stack of ten frames", "blip_backtrace_bench is not built")]
    done = subprocess.run([program, str(FRAMES)], capture_output=True, text=True, timeout=60, check=True)
    return [_row(json.loads(line)) for line in done.stdout.splitlines()]


def _row(answer):
    row = Row(SECTION, "backtrace." + answer["what"].replace(", ", "_").replace(" ", "_"), f"{LABELS[answer['what']]}, {answer['frames']} frames", "ns",
              answer["frames"], answer["min"], answer["median"])
    row.columns = {"ns per frame": round(answer["min"] / answer["frames"], 1)}
    if answer["what"] == "blip":
        row.checks.append(Check("ns", answer["min"], MUST_NS, REACH_NS))
    return row
