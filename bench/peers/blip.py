# SPDX-License-Identifier: MIT
"""blip itself: record with contexts, through the shared ring, returns, count, latencies; and on the entry kinds uprobes are
measured on."""
from harness import blip
from harness.scope import directory_size
from harness.target import Target

from .subject import CALLS, PAUSE_MS, NoTracer, PeerError, Subject

NAME = "blip"
SHARED_CALLS = 4_000  # the shared ring is smaller, and two threads fill it together
NO_RSEQ = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
FUNCTION, RETURN = ["--function", "work"], ["--return", "work"]
LATENCY = ["--latency", "--function", "work"]
CASES = {  # label, verb, probe, contexts, the target's environment, calls per burst
    "reg": ("blip record --no-tid, reg:rdi", "record", FUNCTION + ["--no-tid"], ["reg:rdi"], {}, CALLS),
    "tid": ("blip record, reg:rdi (and tid)", "record", FUNCTION, ["reg:rdi"], {}, CALLS),
    "pid_tid": ("blip record, reg:rdi + pid + tid", "record", FUNCTION, ["reg:rdi", "pid", "tid"], {}, CALLS),
    "shared": ("blip record, reg:rdi, shared ring", "record", FUNCTION, ["reg:rdi"], NO_RSEQ, SHARED_CALLS),
    "string": ("blip record, int + string of 16 by name", "record", FUNCTION + ["--capture", "value, text"], [], {}, CALLS),
    "filter": ("blip record, filter that is false", "record", FUNCTION + ["--filter", "value < 0"], [], {}, CALLS),
    "return": ("blip record --return, result and latency", "record", RETURN, [], {}, CALLS),
    "count": ("blip count", "count", FUNCTION, [], {}, CALLS),
    "latency": ("blip count --latency", "count", LATENCY, [], {}, CALLS),
}
NOTHING = {"filter"}  # cases that record none of the calls
INSIDE = "inside"  # a probe on the function's second instruction
ENTRIES = {"mov": "entry=mov", "push": "entry=push", "nop5": "entry=nop5"}


class Tracer(NoTracer):
    def __init__(self, scope, verb, target, args, records=True):
        self._verb = verb
        self._records = records
        self._stopped = False
        self.blip = blip.Blip(scope, verb, target.pid, args)

    def stop(self):
        if not self._stopped:
            self._stopped = True
            self.blip.stop()

    def problem(self, subject):
        calls, tracer = subject.target.calls if self._records else 0, self.blip
        seen = tracer.hits("work") if self._verb == "count" else tracer.events
        if tracer.discarded or tracer.skipped or seen != calls:
            return f"{calls} calls, {seen} recorded, {tracer.discarded} discarded, {tracer.skipped} skipped"
        return None


def unavailable(scope):
    return None if blip.find(scope.build) else "blip is not built"


def start(scope, threads):
    subjects = [_start(scope, threads, case) for case in CASES]
    if blip.has_option(blip.find(scope.build), "record", "--probe"):
        subjects.append(_inside(scope, threads))
    return subjects + _entry_kinds(scope, threads)


def _start(scope, threads, case):
    label, verb, probe, contexts, env, calls = CASES[case]
    target = Target(scope, "bench_target", env)
    args = list(probe)
    for context in contexts:
        args += ["--context", context]
    tracer = _attach(scope, verb, target, args, case not in NOTHING)
    subject = Subject(f"blip.{case}", label, target, tracer=tracer, calls=calls)
    if verb == "record" and case not in NOTHING:
        subject.trace_bytes = lambda: {"bytes": directory_size(tracer.blip.trace) / target.calls}
    target.run("work", 8, calls, PAUSE_MS, threads)
    return subject


def _inside(scope, threads):
    target = Target(scope, "bench_target")
    tracer = _attach_inside(scope, target)
    subject = Subject(f"blip.{INSIDE}", "blip record, reg:rdi, mid-function", target, tracer=tracer)
    target.run("work", 8, CALLS, PAUSE_MS, threads)
    return subject


def _attach_inside(scope, target):
    """The second instruction is the first place behind the entry that blip takes for one."""
    why = None
    for offset in range(1, 16):
        try:
            return Tracer(scope, "record", target, ["--probe", f"work+{offset}", "--context", "reg:rdi"])
        except blip.BlipError as e:
            why = e
    raise PeerError(str(why)) from why


def _entry_kinds(scope, threads):
    target = Target(scope, "bench_entry")
    args = ["--context", "reg:rdi"]
    for entry in ENTRIES:
        args += ["--function", f"entry_{entry}"]
    tracer = _attach(scope, "record", target, args)
    subjects = []
    for entry, label in ENTRIES.items():
        target.run(entry, 8, CALLS, PAUSE_MS, threads)
        subjects.append(Subject(f"blip.{entry}", f"blip record, reg:rdi, {label}", target, entry, tracer, every=3))
    return subjects


def _attach(scope, verb, target, args, records=True):
    try:
        return Tracer(scope, verb, target, args, records)
    except blip.BlipError as e:
        raise PeerError(str(e)) from e
