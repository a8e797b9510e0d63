# SPDX-License-Identifier: MIT
"""The ways a window is traced: not at all, by blip record, by perf record on uprobes."""
import time

from harness import blip, uprobes


def _measure(workload, seconds, tracer):
    """The sample and how long it took; the tracer is gone afterwards in any case: the two kinds must not meet."""
    begin = time.monotonic()
    workload.tracer_pid = tracer.child.pid
    try:
        sample = workload.measure(seconds)
        return sample, time.monotonic() - begin
    finally:
        workload.tracer_pid = None
        tracer.stop()


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
        sample, took = _measure(workload, seconds, tracer)
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
        sample, took = _measure(workload, seconds, tracer)
        samples, sample.lost = tracer.counts()
        sample.hits_per_s = (samples + sample.lost) / took
        tracer.remove()
        return sample
