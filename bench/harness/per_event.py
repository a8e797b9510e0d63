# SPDX-License-Identifier: MIT
"""Cost of one event: the floor, LTTng-UST and blip, in interleaved rounds of bursts.

Every subject is a process of its own, alive during the whole section; each round visits all of them, so that a change
of the machine's mood hits all alike. The cost is CPU time per call minus that of the same call untraced: minimum
against minimum, median against median.
"""
import contextlib
import dataclasses
import os

from . import blip, lttng
from .rows import Check, Row, skipped
from .scope import directory_size
from .target import Target, TargetError

SECTION = "per event"
CALLS = 25_000  # per burst: 0.6 MB of the largest records; a ring holds 4, so a late consumer loses nothing
SHARED_CALLS = 4_000  # the shared ring is smaller, and two threads fill it together
PAUSE_MS = 30.0
FLOOR = ("floor.plain", "floor.rdtsc", "floor.jump", "floor.rseq_event", "floor.rseq_count", "floor.locked_event")
NAMES = {
    "untraced": "untraced call",
    "floor.plain": "floor: plain call",
    "floor.rdtsc": "floor: rdtsc alone",
    "floor.jump": "floor: jump out and back",
    "floor.rseq_event": "floor: event, rseq",
    "floor.rseq_count": "floor: count, rseq",
    "floor.locked_event": "floor: event, lock cmpxchg",
    "lttng": "LTTng-UST tracepoint, one int",
    "blip.reg": "blip record, reg:rdi",
    "blip.tid": "blip record, reg:rdi + tid",
    "blip.shared": "blip record, reg:rdi, shared ring",
    "blip.count": "blip count",
}
BLIP = {  # what to run, the target's environment, calls per burst
    "blip.reg": ("record", ["--function", "work", "--context", "reg:rdi"], {}, CALLS),
    "blip.tid": ("record", ["--function", "work", "--context", "reg:rdi", "--context", "tid"], {}, CALLS),
    "blip.shared": ("record", ["--function", "work", "--context", "reg:rdi"],
                    {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}, SHARED_CALLS),
    "blip.count": ("count", ["--function", "work"], {}, CALLS),
}
TWO_THREADS = ("untraced", "floor.plain", "floor.rseq_event", "floor.rseq_count", "lttng", "blip.reg", "blip.tid",
               "blip.shared", "blip.count")


@dataclasses.dataclass
class Subject:
    target: Target
    variant: str = "work"
    calls: int = CALLS
    tracer: object = None
    samples: dict = dataclasses.field(default_factory=lambda: {1: [], 2: []})
    problem: str = None


class PerEvent:
    def __init__(self, scope, settings, wanted):
        self.scope = scope
        self.settings = settings
        self.wanted = wanted
        self.threads = min(2, os.cpu_count())
        self.subjects = {}
        self.absent = {}

    def rows(self):
        self._start()
        for _ in range(self.settings.rounds):
            for name, subject in self.subjects.items():
                self._visit(name, subject)
        self._finish()
        return self._cost_rows() + self._size_rows()

    # ---- set-up

    def _start(self):
        self.subjects["untraced"] = Subject(Target(self.scope, "bench_target"))
        floor = Target(self.scope, "bench_floor")
        for name in FLOOR:
            self.subjects[name] = Subject(floor, name.split(".")[1])
        if "lttng" in self.wanted:
            self._try("lttng", self._start_lttng)
        if "blip" in self.wanted:
            for name in BLIP:
                self._try(name, self._start_blip)
        for subject in self.subjects.values():
            subject.target.run(subject.variant, 4, subject.calls, 5, self.threads)

    def _try(self, name, start):
        try:
            self.subjects[name] = start(name)
        except (TargetError, blip.BlipError, lttng.LttngError) as e:
            self.absent[name] = str(e)

    def _start_lttng(self, _):
        why = self.settings.no_lttng or lttng.unavailable(self.scope)
        if why:
            raise lttng.LttngError(why)
        session = lttng.Session(self.scope, "blip_bench:work")
        target = Target(self.scope, "bench_target_lttng", session.env)
        # Once through all its sub-buffers: later bursts find warm pages, as blip's and the floor's do.
        target.run("work", 4, 900_000, 200, self.threads)
        return Subject(target, tracer=session)

    def _start_blip(self, name):
        verb, args, env, calls = BLIP[name]
        target = Target(self.scope, "bench_target", env)
        tracer = blip.Blip(self.scope, verb, target.pid, args)
        target.run("work", 8, calls, PAUSE_MS, self.threads)
        return Subject(target, calls=calls, tracer=tracer)

    # ---- measuring

    def _visit(self, name, subject):
        if subject.problem:
            return
        bursts = self.settings.bursts
        try:
            subject.samples[1] += subject.target.run(subject.variant, bursts, subject.calls, PAUSE_MS)
            if name in TWO_THREADS and self.threads == 2:
                subject.samples[2] += subject.target.run(subject.variant, max(2, bursts // 2), subject.calls,
                                                         PAUSE_MS, 2)
        except TargetError as e:
            subject.problem = str(e)

    def _finish(self):
        for name, subject in self.subjects.items():
            with contextlib.suppress(TargetError):
                self._check(name, subject)

    def _check(self, name, subject):
        """Ends the tracer; a subject that lost events measured something else than recording."""
        if name == "lttng":
            discarded = subject.tracer.stop()
            if discarded != 0:
                subject.problem = f"{discarded} events discarded"
        elif name in BLIP:
            self._check_blip(name, subject)

    def _check_blip(self, name, subject):
        tracer, calls = subject.tracer, subject.target.calls
        try:
            tracer.stop()
        except blip.BlipError as e:
            subject.problem = subject.problem or str(e)
            return
        seen = tracer.hits("work") if name == "blip.count" else tracer.events
        if tracer.discarded or tracer.skipped or seen != calls:
            subject.problem = (f"{calls} calls, {seen} recorded, {tracer.discarded} discarded, "
                               f"{tracer.skipped} skipped")

    # ---- results

    def _cost(self, name, threads=1):
        """(min, median) over the untraced call; None where not measured."""
        subject = self.subjects.get(name)
        plain = "floor.plain" if name.startswith("floor.") else "untraced"
        base = self.subjects[plain].samples[threads]
        if not subject or not subject.samples[threads] or not base:
            return None
        return [_stat(subject.samples[threads], i) - _stat(base, i) for i in (0, 1)]

    def _cost_rows(self):
        rows = [self._cost_row(name, threads) for threads in (1, 2)[:self.threads] for name in NAMES
                if threads == 1 or name in TWO_THREADS]
        return [row for row in rows if row]

    def _cost_row(self, name, threads):
        label = NAMES[name] + (", 2 threads" if threads == 2 else "")
        row_id = f"event.{name}" + (".2" if threads == 2 else "")
        if name in self.absent:
            return skipped(SECTION, row_id, label, self.absent[name]) if threads == 1 else None
        if name not in self.subjects:
            return None
        samples = self.subjects[name].samples[threads]
        if not samples:
            return skipped(SECTION, row_id, label, self.subjects[name].problem or "not measured")
        plain = name in ("untraced", "floor.plain")
        low, mid = (_stat(samples, 0), _stat(samples, 1)) if plain else self._cost(name, threads)
        row = Row(SECTION, row_id, label, "ns", len(samples), low, mid, problem=self.subjects[name].problem)
        if not plain:
            self._add_ratios(row, name, threads)
        if threads == 1:
            self._add_checks(row, name)
        return row

    def _add_ratios(self, row, name, threads):
        for column, other in (("x_floor", "floor.rseq_event"), ("x_lttng", "lttng")):
            if name == "blip.count" and column == "x_floor":
                other = "floor.rseq_count"
            cost = self._cost(other, threads)
            if cost and (column == "x_floor" or name.startswith("blip")):
                row.columns[column] = row.min / cost[0]
                row.columns[column + "_median"] = row.median / cost[1]

    def _add_checks(self, row, name):
        if name == "blip.reg":
            row.checks.append(Check("x floor", row.columns["x_floor"], 1.3, 1.1))
            if "x_lttng" in row.columns:
                row.checks.append(Check("x LTTng", row.columns["x_lttng"], 1 / 5, 1 / 7))
        elif name == "blip.tid" and self._cost("blip.reg"):
            row.checks.append(Check("x without tid", row.min / self._cost("blip.reg")[0], 1.1, 1.02))
        elif name == "blip.shared":
            row.checks.append(Check("ns", row.min, 45, 30))
        elif name == "blip.count":
            row.checks.append(Check("ns", row.min, 4, 2.5))

    def _size_rows(self):
        rows = []
        for name in ("lttng", "blip.reg", "blip.tid", "blip.shared"):
            subject = self.subjects.get(name)
            if not subject or subject.problem:
                continue
            trace = subject.tracer.output if name == "lttng" else subject.tracer.trace
            size = directory_size(trace) / subject.target.calls
            row = Row("bytes per event", f"bytes.{name}", NAMES[name], "B", 1, size, size)
            if name == "lttng":
                row.columns["without_padding"] = subject.tracer.content_bytes() / subject.target.calls
            rows.append(row)
            self.scope.remove(trace)
        return rows


def _stat(samples, which):
    return min(samples) if which == 0 else sorted(samples)[len(samples) // 2]
