# SPDX-License-Identifier: MIT
"""One thing whose cost per call is measured: a variant of a target, and the tracer that looks at it."""
import dataclasses
import typing

CALLS = 25_000  # per burst: 0.6 MB of the largest records; a ring holds 4, so a late consumer loses nothing
PAUSE_MS = 30.0


class PeerError(Exception):
    pass


class NoTracer:
    def stop(self):
        """Ends the tracing."""

    def problem(self, subject):
        """After stop: why the subject's numbers mean something else than recording, or None."""


@dataclasses.dataclass
class Subject:
    id: str
    label: str
    target: object
    variant: str = "work"
    tracer: object = dataclasses.field(default_factory=NoTracer)
    calls: int = CALLS
    every: int = 1  # visited in each n-th round: dear ones need fewer samples
    two_threads: bool = True
    plain: typing.Optional[str] = "untraced"  # id of the subject its cost is counted from
    trace_bytes: typing.Optional[typing.Callable] = None  # after stop: columns for the table of sizes
    samples: dict = dataclasses.field(default_factory=lambda: {1: [], 2: []})
    walls: dict = dataclasses.field(default_factory=lambda: {1: [], 2: []})
    problem: typing.Optional[str] = None

    def burst(self, bursts, threads):
        self.samples[threads] += self.target.run(self.variant, bursts, self.calls, PAUSE_MS, threads)
        self.walls[threads] += self.target.walls
