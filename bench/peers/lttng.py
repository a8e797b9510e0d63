# SPDX-License-Identifier: MIT
"""LTTng-UST: static tracepoints compiled into the program, one event per variant, each in a channel of its own."""
from harness import lttng
from harness.target import Target

from .subject import NoTracer, PeerError, Subject

NAME = "lttng"
PROVIDER = "blip_bench"
CASES = {  # variant, label, event, contexts
    "lttng": ("work", "LTTng-UST tracepoint, one int", "work", ()),
    "lttng.string": ("string", "LTTng-UST, int + string of 16", "work_string", ()),
    "lttng.context": ("context", "LTTng-UST, int + vpid + vtid", "work_context", ("vpid", "vtid")),
    "lttng.snapshot": ("snapshot", "LTTng-UST, int, snapshot session", "work_snapshot", ()),
}
# Once through all sub-buffers before measuring: later bursts find warm pages, as blip's and the floor's do.
WARM_BURSTS, WARM_CALLS, WARM_PAUSE_MS = 4, 900_000, 200


class Tracer(NoTracer):
    def __init__(self, daemon, record, snapshot):
        self._daemon = daemon
        self.record = record
        self._snapshot = snapshot
        self._stopped = False
        self._discarded = None

    def stop(self):
        if not self._stopped:
            self._stopped = True
            self._snapshot.stop()
            self._discarded = self.record.stop()
            self._daemon.end()

    def problem(self, subject):
        if subject.variant != "snapshot" and self._discarded != 0:
            return f"{self._discarded} events discarded"
        return None


def unavailable(scope):
    return lttng.unavailable(scope)


def start(scope, threads):
    try:
        daemon = lttng.Daemon(scope)
        channels = {variant: ([f"{PROVIDER}:{event}"], contexts)
                    for variant, _, event, contexts in CASES.values() if variant != "snapshot"}
        record = lttng.Session(daemon, "record", channels)
        snapshot = lttng.Session(daemon, "snapshot", {"snapshot": ([f"{PROVIDER}:work_snapshot"], ())}, snapshot=True)
    except lttng.LttngError as e:
        raise PeerError(str(e)) from e
    target = Target(scope, "bench_target_lttng", daemon.env)
    tracer = Tracer(daemon, record, snapshot)
    return [_subject(target, tracer, threads, row_id) for row_id in CASES]


def _subject(target, tracer, threads, row_id):
    variant, label, _, _ = CASES[row_id]
    target.run(variant, WARM_BURSTS, WARM_CALLS, WARM_PAUSE_MS, threads)
    subject = Subject(row_id, label, target, variant, tracer, every=1 if row_id == "lttng" else 2)
    if variant != "snapshot":
        subject.trace_bytes = lambda: {
            "bytes": tracer.record.file_bytes(variant) / target.calls_of[variant],
            "without_padding": tracer.record.content_bytes(variant) / target.calls_of[variant]}
    return subject
