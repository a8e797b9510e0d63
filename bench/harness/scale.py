# SPDX-License-Identifier: MIT
"""Large things: a process of 1000 threads, all functions of a large executable, all instructions of libc."""
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
NODE = ["node", "-e", "setInterval(() => {}, 1000)"]
EVERYTHING = [  # id, name, command, option, SPEC, T ms and P ms: must, reach for
    ("gdb_functions", "plan + arm every function of gdb and its libraries", ["gdb", "-q", "-nx"], "--function", "*:*", (3000, 1000), (100, 30)),
    ("libc_instructions", "plan + arm every instruction of libc", ["cat"], "--every-instruction", "libc.so.6:*",
     (10000, 3000), (500, 100)),
    ("node_functions", "plan + arm every function of node", NODE, "--function", "*", (6000, 2000), (500, 100)),
    ("node_returns", "plan + arm every return of node", NODE, "--return", "*", (6000, 3000), (1000, 200)),
]
PROBES = 1000


def rows(scope, settings):
    return ([_threads_row(scope, settings)] + [_list_row(scope, settings, name) for name in LISTED] +
            [_everything_row(scope, settings, *case) for case in EVERYTHING] + [_probes_row(scope, settings)])


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


def _everything_row(scope, settings, case, name, argv, option, spec, total, pause):
    row_id, program = f"scale.{case}", blip.find(scope.build)
    if not program or not shutil.which(argv[0]) or not blip.has_option(program, "record", option):
        return skipped(SECTION, row_id, name, f"blip {option} or {argv[0]} is missing")
    target = spawn(scope, argv)
    time.sleep(1.0)
    row = measure(scope, settings, row_id, name, [target.pid], [option, spec, "--max-probes", "1000000"], SECTION)
    end(target)
    if not row.problem:
        row.columns["functions"] = row.columns["armed"]
        row.checks.append(Check("T ms", row.median, *total))
        row.checks.append(Check("P ms", row.columns["pause"], *pause))
    return row


def _probes_row(scope, settings):
    row_id, name = "scale.probes", f"plan + arm {PROBES} --probe node+0xADDR"
    path, program = shutil.which("node"), blip.find(scope.build)
    if not path or not program:
        return skipped(SECTION, row_id, name, "node is not installed" if program else "blip is not built")
    symbols = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.split("\n")
    functions = [line.split()[0].lstrip("0") for line in symbols if " T " in line]
    places = functions[:: max(1, len(functions) // PROBES)][:PROBES]
    target = spawn(scope, NODE)
    time.sleep(1.0)
    row = measure(scope, settings, row_id, name, [target.pid], [w for a in places for w in ("--probe", f"node+0x{a}")], SECTION)
    end(target)
    if not row.problem:
        row.checks.append(Check("T ms", row.median, 500, 200))
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
