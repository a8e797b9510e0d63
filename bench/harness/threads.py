# SPDX-License-Identifier: MIT
"""Cost per event with more and more threads on the same cores: it should stay what it is with one."""
import os
import signal

from . import blip, lttng
from .rows import Check, Row, skipped
from .settings import OutOfTime
from .target import Target, TargetError

from peers import bpftrace
from peers.subject import PeerError

SECTION = "threads"
NAMES = ("blip", "lttng", "bpftrace")
LABELS = {"untraced": "untraced call", "blip": "blip record, reg:rdi", "lttng": "LTTng-UST tracepoint, one int",
          "bpftrace": "uprobe, bpftrace count(), entry=nop5"}
BURSTS = 16
SUBBUF = "16M"  # of both, 8 per cpu: a burst of 64 threads fits
DRAIN_RATE = 8e6  # events per second a consumer surely drains; it gets so much time between bursts
UPROBE_EVENTS = 40_000  # by each thread
FINISH_SECONDS = 30
FLAT_MUST, FLAT_REACH = 1.15, 1.03


def rows(scope, settings):
    """One row per tracer and thread count, then blip's flatness."""
    subjects, result = {"untraced": _Untraced(scope)}, []
    for name, make in (("blip", _Blip), ("lttng", _Lttng), ("bpftrace", _Bpftrace)):
        if not settings.wanted(f"threads.{name}"):
            continue
        try:
            subjects[name] = make(scope, settings)
        except (TargetError, PeerError, blip.BlipError, lttng.LttngError) as e:
            result.append(skipped(SECTION, f"threads.{name}", LABELS[name], str(e)))
    costs, problems, late = {name: {} for name in subjects}, {}, False
    try:
        for count in settings.thread_counts:
            for name, subject in subjects.items():
                subject.begin()
                costs[name][count] = _measure(subject, settings, count)
                problems[name, count] = subject.end()
    except OutOfTime:
        late = True
        signal.alarm(FINISH_SECONDS)
    for name, subject in subjects.items():
        problem = subject.finish()
        result += [_row(name, costs, count, problem or problems.get((name, count))) for count in costs[name]]
    return result + [_flat_row(name, costs, result, late) for name in ("blip", "lttng") if name in costs]


def _measure(subject, settings, count):
    events = min(settings.thread_events, subject.most_events)
    calls = events // BURSTS
    pause = 20 + 1000 * calls * count / DRAIN_RATE if subject.drains else 5
    subject.target.run(subject.variant, 2, calls, pause, count)
    return subject.target.run(subject.variant, BURSTS, calls, pause, count)


def _row(name, costs, count, problem):
    samples, plain = costs[name][count], costs["untraced"][count]
    net = [_stat(samples, i) - (_stat(plain, i) if name != "untraced" else 0) for i in (0, 1)]
    label = f"{LABELS[name]}, {count} thread{'s' * (count > 1)}"
    row = Row(SECTION, f"threads.{name}.{count}", label, "ns", len(samples), *net, problem=problem)
    row.columns["threads"] = count
    return row


def _flat_row(name, costs, rows_, late):
    """The dearest thread count against the cheapest end of the scale, one thread."""
    label = f"{LABELS[name]}: dearest / one thread"
    if late:
        return skipped(SECTION, f"threads.{name}.flat", label, f"out of time at {max(costs[name], default=0)} threads")
    if any(r.problem for r in rows_ if r.id.startswith(f"threads.{name}.")):
        return skipped(SECTION, f"threads.{name}.flat", label, "events were lost: see above")
    net = {count: min(costs[name][count]) - min(costs["untraced"][count]) for count in costs[name]}
    one = net[min(net)]
    worst = max(net.values()) / one
    row = Row(SECTION, f"threads.{name}.flat", label, "x", len(net), worst, worst)
    if name == "blip":
        row.checks.append(Check("x", worst, FLAT_MUST, FLAT_REACH))
    return row


def _stat(samples, which):
    return min(samples) if which == 0 else sorted(samples)[len(samples) // 2]


class _Subject:
    """What is called before and after each thread count, and at the end; the latter two say what went wrong."""
    variant = "work"
    drains = False
    most_events = 1 << 40

    def begin(self):
        pass

    def end(self):
        return None

    def finish(self):
        return None


class _Untraced(_Subject):
    def __init__(self, scope):
        self.target = Target(scope, "bench_target")


class _Blip(_Subject):
    """A trace of its own for each thread count: there is a gigabyte of it in the end."""
    drains = True

    def __init__(self, scope, _settings):
        self._scope = scope
        self.target = Target(scope, "bench_target")
        self._tracer = None
        self._before = 0

    def begin(self):
        self._before = self.target.calls
        self._tracer = blip.Blip(self._scope, "record", self.target.pid, [
            "--function", "work", "--context", "reg:rdi", "--num-subbuf", lttng.NUM_SUBBUF, "--subbuf-size", SUBBUF])

    def end(self):
        tracer, calls = self._tracer, self.target.calls - self._before
        tracer.stop()
        self._scope.remove(tracer.trace)
        if tracer.events == calls:
            return None
        return f"{calls} calls, {tracer.events} recorded, {tracer.discarded} discarded, {tracer.skipped} skipped"


class _Lttng(_Subject):
    drains = True

    def __init__(self, scope, settings):
        why = settings.unavailable.get("lttng") or lttng.unavailable(scope)
        if why:
            raise lttng.LttngError(why)
        self._daemon = lttng.Daemon(scope)
        self._session = lttng.Session(self._daemon, "threads", {"work": (["blip_bench:work"], ())}, subbuf_size=SUBBUF)
        self.target = Target(scope, "bench_target_lttng", self._daemon.env)
        self.target.run("work", 4, 4_000_000, 300, min(2, os.cpu_count()))  # all pages once

    def finish(self):
        discarded = self._session.stop()
        self._daemon.end()
        return None if discarded == 0 else f"{discarded} events discarded"


class _Bpftrace(_Subject):
    variant = "nop5"
    most_events = UPROBE_EVENTS

    def __init__(self, scope, _settings):
        why = bpftrace.unavailable(scope)
        if why:
            raise PeerError(why)
        self.target = Target(scope, "bench_entry", copy=True)
        program = f"uprobe:{self.target.path}:entry_nop5 {{ @count_nop5 = count(); }}"
        self._tracer = bpftrace.Tracer(scope, self.target, program, ["entry_nop5"])

    def finish(self):
        self._tracer.stop()
        return None
