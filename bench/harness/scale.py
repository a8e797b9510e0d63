# SPDX-License-Identifier: MIT
"""Large things: a process of 1000 threads, all functions of a large executable."""
import os
import shutil
import subprocess
import time

from . import blip
from .attach import measure, spawn
from .rows import Check, Row, skipped, summarize
from .scope import end

SECTION = "scale"
THREADS = 1000
LISTED = ("node", "gdb")
LIST_TIMEOUT = 30


def rows(scope, settings):
    return [_threads_row(scope, settings)] + [_list_row(scope, settings, name) for name in LISTED]


def _threads_row(scope, settings):
    row_id, name = "scale.threads", f"attach to a process of {THREADS} threads"
    program = scope.program("bench_sleepers")
    if not os.path.exists(program):
        return skipped(SECTION, row_id, name, "bench_sleepers is not built")
    target = spawn(scope, [program, str(THREADS)])
    time.sleep(1.0)
    row = measure(scope, settings, row_id, name, [target.pid], ["--function", "work", "--context", "reg:rdi"], SECTION)
    alive = target.poll() is None
    end(target)
    if not row.problem and not alive:
        row.problem = "the target died"
    if not row.problem:
        row.checks.append(Check("P ms", row.columns["pause"], 25, 10))
    return row


def _list_row(scope, settings, name):
    row_id, label = f"scale.list.{name}", f"blip list: all functions of {name}"
    path, program = shutil.which(name), blip.find(scope.build)
    if not path or not program:
        return skipped(SECTION, row_id, label, f"{name} is not installed" if program else "blip is not built")
    if not blip.has_verb(program, "list"):
        return skipped(SECTION, row_id, label, "blip list is not built yet")
    walls, functions = [], 0
    for _ in range(max(3, settings.attaches)):
        begin = time.monotonic()
        done = subprocess.run([program, "list", os.path.realpath(path)], capture_output=True, timeout=LIST_TIMEOUT,
                              check=False)
        walls.append((time.monotonic() - begin) * 1000)
        if done.returncode != 0:
            last = done.stderr.decode(errors="replace").strip().split("\n")[-1]
            return skipped(SECTION, row_id, label, f"status {done.returncode}: {last}")
        functions = done.stdout.count(b"\n")
    row = Row(SECTION, row_id, label, "ms", **summarize(walls))
    row.columns["functions"] = functions
    row.checks.append(Check("ms", row.median, 1000, 300))
    return row
