# SPDX-License-Identifier: MIT
"""How much slower a function gets that works for 0 to 10 us per call: the share a probe takes of real work."""
from . import blip, lttng
from .rows import Row, skipped
from .target import Target, TargetError

from peers import bpftrace
from peers.subject import PeerError

SECTION = "curve"
NAMES = ("blip", "lttng", "bpftrace")
STEPS = (0, 10, 30, 100, 300, 1000, 3000, 8000)  # one is about 1.3 ns
BURSTS = 4
BURST_NS = 4e6
MAX_CALLS, MAX_UPROBE_CALLS = 25_000, 10_000
PAUSE_MS = 15


def rows(scope, settings):
    subjects, result = {}, []
    for name, make in (("untraced", _untraced), ("blip", _blip), ("lttng", _lttng), ("bpftrace", _bpftrace)):
        if name != "untraced" and not settings.wanted(f"curve.{name}"):
            continue
        try:
            subjects.update(make(scope, settings))
        except (TargetError, PeerError, blip.BlipError, lttng.LttngError) as e:
            result.append(skipped(SECTION, f"curve.{name}", name, str(e)))
    samples = {(label, step): [] for label in subjects for step in STEPS}
    for _ in range(settings.curve_rounds):
        for step in STEPS:
            for label, (target, variant, most) in subjects.items():
                target.spin(step)
                calls = int(min(most, BURST_NS / (step * 1.3 + 1)))
                samples[label, step] += target.run(variant, BURSTS, calls, PAUSE_MS)
    return result + [_row(subjects, samples, label, step) for label in list(subjects)[1:] for step in STEPS]


def _row(subjects, samples, label, step):
    plain = samples[next(iter(subjects)), step]
    traced = samples[label, step]
    row = Row(SECTION, f"curve.{label}.{step}", f"{label}, work of {min(plain):.0f} ns", "%", len(traced))
    row.min = 100 * (min(traced) / min(plain) - 1)
    row.median = 100 * (_median(traced) / _median(plain) - 1)
    row.columns = {"work": min(plain), "traced": min(traced)}
    return row


def _median(samples):
    return sorted(samples)[len(samples) // 2]


def _untraced(scope, _settings):
    return {"untraced": (Target(scope, "bench_entry"), "spin_push", MAX_CALLS)}


def _blip(scope, _settings):
    target = Target(scope, "bench_entry")
    blip.Blip(scope, "record", target.pid, ["--function", "spin_push", "--context", "reg:rdi"])
    return {"blip record, reg:rdi": (target, "spin_push", MAX_CALLS)}


def _lttng(scope, settings):
    why = settings.unavailable.get("lttng") or lttng.unavailable(scope)
    if why:
        raise lttng.LttngError(why)
    daemon = lttng.Daemon(scope)
    lttng.Session(daemon, "curve", {"work": (["blip_bench:work"], ())})
    target = Target(scope, "bench_target_lttng", daemon.env)
    target.run("spin", 4, 900_000, 200)
    return {"LTTng-UST, one int": (target, "spin", MAX_CALLS)}


def _bpftrace(scope, _settings):
    why = bpftrace.unavailable(scope)
    if why:
        raise PeerError(why)
    target = Target(scope, "bench_entry", copy=True)
    program = " ".join(f"uprobe:{target.path}:spin_{e} {{ @{e} = count(); }}" for e in ("push", "nop5"))
    bpftrace.Tracer(scope, target, program, ["spin_push", "spin_nop5"])
    return {f"uprobe, bpftrace count(), entry={e}": (target, f"spin_{e}", MAX_UPROBE_CALLS) for e in ("push", "nop5")}
