# SPDX-License-Identifier: MIT
"""Kernel uprobes come and go one by one: how long bpftrace takes to attach to and detach from many functions.

Beside blip's rows of the section `attach`, on the same program and functions.
"""
import os
import shutil
import signal
import subprocess
import time

from peers import bpftrace

from . import elf
from .attach import GLOBS
from .rows import Row, skipped
from .scope import end, wait_until

SECTION = "detach"
ATTACH_TIMEOUT, DETACH_TIMEOUT = 40, 60
COUNTS = {1: "fn_0000", 10: "fn_000*", 100: "fn_00*", 1000: "fn_0*"}  # bpftrace knows no question mark


def rows(scope, settings):
    why = bpftrace.unavailable(scope)
    program = scope.program("bench_functions")
    if why or not os.path.exists(program):
        return [skipped(SECTION, "detach.bpftrace", "bpftrace", why or "bench_functions is not built")]
    program = shutil.copy(program, scope.path("functions"))
    target = scope.spawn([program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    return [_row(scope, target, program, count) for count in settings.detach_probes]


def _row(scope, target, program, count):
    assert count in GLOBS
    file, path = elf.Elf(program), os.path.realpath(program)
    sites = [file.site(target.pid, path, f"fn_{i:04d}") for i in range(count)]
    before = [elf.read_site(target.pid, s) for s in sites]
    label = f"bpftrace count(), {count} function{'s' * (count > 1)}"
    changed = lambda: sum(elf.read_site(target.pid, s) != b for s, b in zip(sites, before))
    begin = time.monotonic()
    argv = ["bpftrace", "-p", str(target.pid), "-e", f"uprobe:{program}:{COUNTS[count]} {{ @ = count(); }}"]
    child = scope.spawn(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not wait_until(lambda: changed() == count or child.poll() is not None, ATTACH_TIMEOUT) or changed() != count:
        return skipped(SECTION, f"detach.bpftrace.{count}", label, f"{changed()} of {count} patched, then no more")
    attached = (time.monotonic() - begin) * 1000
    begin = time.monotonic()
    end(child, signal.SIGINT, DETACH_TIMEOUT)
    detached = (time.monotonic() - begin) * 1000
    row = Row(SECTION, f"detach.bpftrace.{count}", label, "ms", 1, attached, attached)
    row.columns = {"probes": count, "detach": detached, "per_probe": detached / count, "left": changed()}
    return row
