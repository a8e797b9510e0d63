# SPDX-License-Identifier: MIT
"""The ways a window is traced: not at all, by blip record, by perf record on uprobes."""
import time

from harness import blip, uprobes


class Untraced:
    NAME = "untraced"

    def __init__(self, *_):
        pass

    def window(self, workload, seconds):
        return workload.measure(seconds)


class BlipRecord:
    NAME = "blip record"

    def __init__(self, scope, functions, contexts=()):
        self._scope = scope
        self._args = [word for c in contexts for word in ("--context", c)]
        self._args += [word for f in functions for word in ("--function", f)]

    def window(self, workload, seconds):
        tracer = blip.Blip(self._scope, "record", workload.pids(), self._args)
        begin = time.monotonic()
        sample = workload.measure(seconds)
        took = time.monotonic() - begin
        tracer.stop()
        self._scope.remove(tracer.trace)
        sample.hits_per_s = (tracer.events + tracer.discarded) / took
        sample.lost = tracer.discarded + tracer.skipped
        return sample


class PerfRecord:
    NAME = "uprobes, perf record"

    def __init__(self, scope, functions, binary, everywhere=False):
        self._scope = scope
        self._event = uprobes.Event(scope, binary, functions)
        self._everywhere = everywhere

    def window(self, workload, seconds):
        tracer = uprobes.PerfRecord(self._scope, self._event, () if self._everywhere else workload.pids())
        try:
            return workload.measure(seconds)
        finally:
            tracer.stop()
            tracer.remove()
