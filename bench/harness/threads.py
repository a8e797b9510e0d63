# SPDX-License-Identifier: MIT
"""Cost per event with more and more threads on the same cores: it should stay what it is with one."""
import os

from . import blip, lttng
from .rows import Check, Row, skipped
from .target import Target, TargetError

from peers import bpftrace
from peers.subject import PeerError

SECTION = "threads"
NAMES = ("blip", "lttng", "bpftrace")
LABELS = {"untraced": "untraced call", "blip": "blip record, reg:rdi", "lttng": "LTTng-UST tracepoint, one int",
          "bpftrace": "uprobe, bpftrace count(), entry=nop5"}
BURSTS = 16
SUBBUF = "16M"  # of both, 4 or 8 per cpu: a burst of 64 threads fits
DRAIN_RATE = 15e6  # events per second a consumer surely drains; it gets so much time between bursts
UPROBE_EVENTS = 40_000  # by each thread
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
    costs = {name: {} for name in subjects}
    for count in settings.thread_counts:
        for name, subject in subjects.items():
            costs[name][count] = _measure(subject, settings, count)
    for name, subject in subjects.items():
        problem = subject.finish()
        result += [_row(name, costs, count, problem) for count in settings.thread_counts]
    return result + [_flat_row(name, costs) for name in ("blip", "lttng") if name in costs]


def _measure(subject, settings, count):
    events = min(settings.thread_events, subject.most_events)
    calls = events // BURSTS
    pause = 20 + 1000 * calls * count / DRAIN_RATE
    subject.target.run(subject.variant, 2, calls, pause, count)
    return subject.target.run(subject.variant, BURSTS, calls, pause, count)


def _row(name, costs, count, problem):
    samples, plain = costs[name][count], costs["untraced"][count]
    net = [_stat(samples, i) - (_stat(plain, i) if name != "untraced" else 0) for i in (0, 1)]
    label = f"{LABELS[name]}, {count} thread{'s' * (count > 1)}"
    row = Row(SECTION, f"threads.{name}.{count}", label, "ns", len(samples), *net, problem=problem)
    row.columns["threads"] = count
    return row


def _flat_row(name, costs):
    """The dearest thread count against the cheapest end of the scale, one thread."""
    net = {count: min(costs[name][count]) - min(costs["untraced"][count]) for count in costs[name]}
    one = net[min(net)]
    worst = max(net.values()) / one
    row = Row(SECTION, f"threads.{name}.flat", f"{LABELS[name]}: dearest / one thread", "x", len(net), worst, worst)
    if name == "blip":
        row.checks.append(Check("x", worst, FLAT_MUST, FLAT_REACH))
    return row


def _stat(samples, which):
    return min(samples) if which == 0 else sorted(samples)[len(samples) // 2]


class _Untraced:
    variant = "work"
    most_events = 1 << 40

    def __init__(self, scope):
        self.target = Target(scope, "bench_target")

    def finish(self):
        return None


class _Blip(_Untraced):
    def __init__(self, scope, _settings):
        super().__init__(scope)
        self._tracer = blip.Blip(scope, "record", self.target.pid, ["--function", "work", "--context", "reg:rdi",
                                                                    "--subbuf-size", SUBBUF])

    def finish(self):
        tracer = self._tracer
        tracer.stop()
        if tracer.events != self.target.calls:
            return (f"{self.target.calls} calls, {tracer.events} recorded, {tracer.discarded} discarded, "
                    f"{tracer.skipped} skipped")
        return None


class _Lttng:
    variant = "work"
    most_events = 1 << 40

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


class _Bpftrace:
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
