# SPDX-License-Identifier: MIT
"""How much is measured: the full run and the quick cut of it."""
import dataclasses


class OutOfTime(Exception):
    """Raised by the alarm of a measurement that takes too long."""


@dataclasses.dataclass
class Settings:
    seconds: int = 720  # the whole run is over soon after
    rounds: int = 24  # per event
    bursts: int = 5
    attaches: int = 7
    drain_seconds: float = 3.0
    coverage_timeout: float = 60.0
    thread_counts: tuple = (1, 2, 4, 8, 16, 32, 64)
    thread_events: int = 1_000_000  # by each thread
    curve_rounds: int = 6
    detach_probes: tuple = (1, 100)  # of bpftrace: a tenth of a second each
    life_seconds: float = 0.8  # a window
    life_rounds: int = 13
    life_counts: tuple = (10, 100, 1000)
    only: list = dataclasses.field(default_factory=list)
    unavailable: dict = dataclasses.field(default_factory=dict)  # peer -> why

    def wanted(self, name):
        return not self.only or any(text in name for text in self.only)


FULL = Settings()
QUICK = Settings(seconds=200, rounds=4, bursts=4, attaches=2, drain_seconds=1.0, coverage_timeout=10.0,
                 thread_counts=(1, 8, 64), thread_events=125_000, curve_rounds=2, detach_probes=(1, 10),
                 life_seconds=0.5, life_rounds=4, life_counts=(100,))
