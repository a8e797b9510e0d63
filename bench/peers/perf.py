# SPDX-License-Identifier: MIT
"""Kernel uprobes through perf record: every hit with its first argument, to a file."""
import os

from harness import uprobes
from harness.target import Target

from .subject import NoTracer, PeerError, Subject

NAME = "perf"
CALLS = {"push": 5_000, "nop5": 5_000}


class Tracer(NoTracer):
    def __init__(self, record):
        self._record = record

    def stop(self):
        self._record.stop()

    def size(self):
        return os.path.getsize(self._record.output)

    def problem(self, subject):
        samples, lost = self._record.counts()
        calls = subject.target.calls
        return f"{calls} calls, {samples} samples, {lost} lost" if lost or samples < calls else None


def unavailable(_scope):
    return uprobes.unavailable()


def start(scope, threads):
    return [_start(scope, threads, entry) for entry in CALLS]


def _start(scope, threads, entry):
    target = Target(scope, "bench_entry", copy=True)
    try:
        event = uprobes.Event(scope, target.path, [f"entry_{entry}"], "value=%di:s32")
        tracer = Tracer(uprobes.PerfRecord(scope, event))
    except uprobes.UprobeError as e:
        raise PeerError(str(e)) from e
    target.run(entry, 4, CALLS[entry], 5, threads)
    subject = Subject(f"perf.{entry}", f"uprobe, perf record, one int, entry={entry}", target, entry, tracer,
                      CALLS[entry], every=3)
    subject.trace_bytes = lambda: {"bytes": tracer.size() / target.calls}
    return subject
