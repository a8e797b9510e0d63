# SPDX-License-Identifier: MIT
"""Kernel uprobes through bpftrace: a count, a count by key, on the entry kinds the kernel treats differently; latencies."""
import os
import re
import shutil
import signal

from harness import elf
from harness.scope import end, wait_until
from harness.target import Target

from .subject import NoTracer, PeerError, Subject

NAME = "bpftrace"
ATTACH_TIMEOUT, END_TIMEOUT = 30.0, 30.0
ENTRIES = {  # calls per burst, what the kernel does there
    "mov": (1_000, "single-stepped"),
    "push": (10_000, "emulated"),
    "nop5": (20_000, "optimized"),
}
MAP_CALLS = 10_000
LATENCY_CALLS = 5_000


class Tracer(NoTracer):
    """bpftrace on one process; returns when the last of `functions` is patched."""

    def __init__(self, scope, target, program, functions):
        self._output = scope.path("bpftrace.out")
        with open(self._output, "wb") as out:
            self._child = scope.spawn(["bpftrace", "-p", str(target.pid), "-e", program], stdout=out, stderr=out)
        file = elf.Elf(target.path)
        sites = [file.site(target.pid, os.path.realpath(target.path), f) for f in functions]
        before = [elf.read_site(target.pid, s) for s in sites]
        patched = lambda: all(elf.read_site(target.pid, s) != b for s, b in zip(sites, before))
        if not wait_until(lambda: patched() or self._child.poll() is not None, ATTACH_TIMEOUT, 0.01) or not patched():
            raise PeerError("bpftrace did not attach: " + self.output().strip().split("\n")[-1])

    def output(self):
        with open(self._output, encoding="utf-8", errors="replace") as f:
            return f.read()

    def stop(self):
        if self._child.poll() is None:
            end(self._child, signal.SIGINT, END_TIMEOUT)

    def problem(self, subject):
        name = subject.id.split(".", 1)[1].replace(".", "_")
        found = re.findall(rf"^@{name}(?:\[\d+\])?: (\d+)", self.output(), re.M)
        calls, seen = subject.target.calls_of[subject.variant], sum(map(int, found))
        return None if seen == calls else f"{calls} calls, {seen} counted"


def unavailable(_scope):
    if os.geteuid() != 0:
        return "bpftrace needs root"
    return None if shutil.which("bpftrace") else "bpftrace is not installed (package bpftrace)"


def start(scope, threads):
    return _counts(scope, threads) + _map(scope, threads) + _latency(scope, threads)


def _counts(scope, threads):
    target = Target(scope, "bench_entry", copy=True)
    program = " ".join(f"uprobe:{target.path}:entry_{e} {{ @count_{e} = count(); }}" for e in ENTRIES)
    tracer = Tracer(scope, target, program, [f"entry_{e}" for e in ENTRIES])
    subjects = []
    for entry, (calls, why) in ENTRIES.items():
        target.run(entry, 4, calls, 5, threads)
        subjects.append(Subject(f"bpftrace.count.{entry}", f"uprobe, bpftrace count(), entry={entry} ({why})",
                                target, entry, tracer, calls, every=3))
    return subjects


def _map(scope, threads):
    target = Target(scope, "bench_entry", copy=True)
    program = f"uprobe:{target.path}:entry_push {{ @map_push[arg0 & 7] = count(); }}"
    tracer = Tracer(scope, target, program, ["entry_push"])
    target.run("push", 4, MAP_CALLS, 5, threads)
    return [Subject("bpftrace.map.push", "uprobe, bpftrace @[arg0 & 7] = count(), entry=push", target, "push", tracer,
                    MAP_CALLS, every=3)]


def _latency(scope, threads):
    target = Target(scope, "bench_entry", copy=True)
    place = f"{target.path}:entry_push"
    program = (f"uprobe:{place} {{ @start[tid] = nsecs; }} uretprobe:{place} /@start[tid]/ "
               "{ @took = hist(nsecs - @start[tid]); delete(@start[tid]); @latency_push = count(); }")
    tracer = Tracer(scope, target, program, ["entry_push"])
    target.run("push", 4, LATENCY_CALLS, 5, threads)
    return [Subject("bpftrace.latency.push", "uretprobe, bpftrace hist() of latencies, entry=push", target, "push", tracer,
                    LATENCY_CALLS, every=3)]
