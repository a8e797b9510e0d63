# SPDX-License-Identifier: MIT
"""What one window of load gave."""
import dataclasses
import typing

from harness.scope import cpu_seconds


class LifeError(Exception):
    """A workload cannot be run; the text says why."""


@dataclasses.dataclass
class Sample:
    throughput: float  # transactions, requests, builds per second
    avg_ms: typing.Optional[float] = None
    p99_ms: typing.Optional[float] = None
    hits_per_s: typing.Optional[float] = None  # of the probes, as the tracer counted them
    lost: int = 0
    cpu_us: typing.Optional[float] = None  # CPU time per transaction of the traced processes and the tracer
    tracer_cpu_us: typing.Optional[float] = None  # of that, the tracer's


class CpuWatch:
    """CPU time of the traced processes and of their tracer between two moments: it means something on a busy machine too."""

    def __init__(self, pids, tracer_pid=None):
        self._pids, self._tracer = pids, tracer_pid
        self._begin = self._now()

    def _now(self):
        return sum(map(cpu_seconds, self._pids)), cpu_seconds(self._tracer) if self._tracer else 0.0

    def stop(self):
        """Seconds: (traced, tracer)."""
        return tuple(now - before for now, before in zip(self._now(), self._begin))
