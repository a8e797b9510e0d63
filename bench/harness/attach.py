# SPDX-License-Identifier: MIT
"""Attaching and detaching: T and P as blip prints them, for 1 to 5000 functions and for one in large programs."""
import os
import shutil
import subprocess
import time

from . import blip
from .rows import Check, Row, skipped, summarize
from .scope import end, wait_until

SECTION = "attach"
GLOBS = {1: "fn_0000", 10: "fn_000?", 100: "fn_00??", 1000: "fn_0???", 5000: "fn_????"}
TRACED_SECONDS = 0.05
SETTLE_SECONDS = 1.0
LARGE_BUFFERS = "64M"
LARGE = [  # (id, name, command, a function of it); the first that is installed of each group
    [("gdb", "1 function in gdb", ["gdb", "-q", "-nx"], "gdb:_Znwm")],
    [("node", "1 function in node", ["node", "-e", "process.stdin.resume()"], "node:uv_run"),
     ("clang", "1 function in libLLVM (clang)", ["clang-14", "-fsyntax-only", "-x", "c", "-"],
      "libLLVM-14.so.1:LLVMContextCreate")],
]


def rows(scope, settings):
    result = _function_rows(scope, settings)
    for group in LARGE:
        result.append(_large_row(scope, settings, group))
    return result


def spawn(scope, argv):
    return scope.spawn(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _function_rows(scope, settings):
    program = scope.program("bench_functions")
    if not os.path.exists(program):
        return [skipped(SECTION, "attach", "attach to a program of 8000 functions", "bench_functions is not built")]
    target = spawn(scope, [program])
    time.sleep(0.2)
    size_mb = os.path.getsize(program) / 1e6
    result = []
    for count, glob in GLOBS.items():
        name = f"{count} function{'s' * (count > 1)} of a {size_mb:.1f} MB program"
        row = measure(scope, settings, f"attach.{count}", name, [target.pid], _probe(glob))
        if not row.problem:
            _add_function_checks(row, count)
        result.append(row)
    result.append(_buffers_row(scope, settings, target))
    if not all(row.problem for row in result):
        result.append(_restored_row(target, program))
    end(target)
    return result


def _add_function_checks(row, count):
    if row.columns["armed"] + row.columns["refused"] != count:
        row.problem = f"{row.columns['armed']:.0f} armed and {row.columns['refused']:.0f} refused of {count}"
    elif count == 1:
        row.checks.append(Check("T ms", row.median, 30, 10))
    elif count == 5000:
        row.checks.append(Check("T ms", row.median, 500, 100))
        row.checks.append(Check("P ms", row.columns["pause"], 15, 6))
        if "detach" in row.columns:
            row.checks.append(Check("detach ms", row.columns["detach"], 500, 50))


def _buffers_row(scope, settings, target):
    """Memory for the rings is made while the target is traced: neither T nor P may depend on it."""
    name = f"1 function, --subbuf-size {LARGE_BUFFERS}"
    args = _probe(GLOBS[1]) + ["--subbuf-size", LARGE_BUFFERS]
    row = measure(scope, settings, "attach.buffers", name, [target.pid], args)
    if not row.problem:
        row.checks += [Check("T ms", row.median, 30, 15), Check("P ms", row.columns["pause"], 3, 1)]
    return row


def _large_row(scope, settings, group):
    for row_id, name, argv, function in group:
        path = shutil.which(argv[0])
        if not path:
            continue
        target = spawn(scope, argv)
        time.sleep(SETTLE_SECONDS)
        row = measure(scope, settings, f"attach.{row_id}", name, [target.pid], _probe(function))
        end(target)
        if not row.problem:
            row.checks.append(Check("T ms", row.median, 500, 100))
        return row
    wanted = " or ".join(name for name, *_ in group)
    return skipped(SECTION, f"attach.{group[0][0]}", group[0][1], f"not installed: {wanted}")


def _probe(spec):
    return ["--function", spec, "--context", "reg:rdi"]


def measure(scope, settings, row_id, name, pids, args, section=SECTION, before=lambda: None):
    """Attaches, traces for a moment and detaches, several times; before() is called each time."""
    runs = []
    try:
        for _ in range(settings.attaches):
            before()
            tracer = blip.Blip(scope, "record", pids, args, verbose=True)
            time.sleep(TRACED_SECONDS)
            tracer.stop()
            scope.remove(tracer.trace)
            runs.append(tracer)
    except blip.BlipError as e:
        return skipped(section, row_id, name, str(e))
    gone = [pid for pid in pids if not os.path.exists(f"/proc/{pid}")]
    if gone:
        return skipped(section, row_id, name, f"the target died: {gone}")
    row = Row(section, row_id, name, "ms", **summarize([r.armed_ms for r in runs]))
    row.columns["armed"] = runs[0].probes
    row.columns["refused"] = runs[0].refused
    row.columns["memory"] = max(r.memory_mb or 0 for r in runs)
    row.columns["wall"] = summarize([r.wall_ms for r in runs])["median"]
    _add_median(row, "pause", [r.paused_ms for r in runs])
    splits = [r.split_ms() for r in runs]
    _add_median(row, "instrumentation", [s and s[0] for s in splits])
    _add_median(row, "registration", [s and s[1] for s in splits])
    _add_median(row, "detach", [r.detach_ms for r in runs])
    _add_median(row, "detach_pause", [r.detach_paused_ms for r in runs])
    return row


def _add_median(row, column, values):
    if values and all(v is not None for v in values):
        row.columns[column] = summarize(values)["median"]


def _restored_row(target, program):
    """After all of it: text as in the file, no mapping of blip's."""
    row = Row(SECTION, "attach.restored", "after the last detach: what is left", "", 1)
    if target.poll() is not None:
        row.problem = f"the target died (status {target.returncode})"
        return row
    restored = wait_until(lambda: _traces(target.pid, program) == 0, 2, 0.05)
    row.columns["left"] = 0 if restored else _traces(target.pid, program)
    row.checks.append(Check("changed bytes of text + mappings", row.columns["left"], 0, 0))
    return row


def _traces(pid, program):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        lines = f.read().split("\n")
    count = sum("blip" in line for line in lines)
    with open(f"/proc/{pid}/mem", "rb") as memory, open(program, "rb") as file:
        for line in lines:
            words = line.split()
            if len(words) < 6 or words[1] != "r-xp" or words[5] != os.path.realpath(program):
                continue
            begin, stop = (int(w, 16) for w in words[0].split("-"))
            memory.seek(begin)
            file.seek(int(words[2], 16))
            now, original = memory.read(stop - begin), file.read(stop - begin)
            count += sum(a != b for a, b in zip(now, original)) if now[:len(original)] != original else 0
    return count
