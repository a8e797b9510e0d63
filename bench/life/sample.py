# SPDX-License-Identifier: MIT
"""What one window of load gave."""
import dataclasses
import typing


class LifeError(Exception):
    """A workload cannot be run; the text says why."""


@dataclasses.dataclass
class Sample:
    throughput: float  # transactions, requests, builds per second
    avg_ms: typing.Optional[float] = None
    p99_ms: typing.Optional[float] = None
    hits_per_s: typing.Optional[float] = None  # of the probes, as the tracer counted them
    lost: int = 0
