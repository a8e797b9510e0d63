# SPDX-License-Identifier: MIT
"""Draining: a steady rate of events from one thread with default buffers; nothing may be lost."""
import time

from . import blip
from .rows import Check, Row, skipped
from .scope import cpu_seconds, directory_size
from .target import Target, TargetError

SECTION = "drain"
RATES = (5_000_000, 10_000_000)
MUST_RATE = 5_000_000
CATCH_UP_SECONDS = 0.2  # the consumer's last sleep and what it then finds


def rows(scope, settings):
    return [_row(scope, settings, rate) for rate in RATES]


def _row(scope, settings, rate):
    row_id, name = f"drain.{rate // 1_000_000}", f"{rate // 1_000_000} M events/s from one thread"
    try:
        target = Target(scope, "bench_target")
        tracer = blip.Blip(scope, "record", target.pid, ["--function", "work", "--context", "reg:rdi"])
        target.run("work", 8, 50_000, 30)
        before = cpu_seconds(tracer.child.pid), time.monotonic()
        reached = target.rate("work", rate, settings.drain_seconds)
        time.sleep(CATCH_UP_SECONDS)
        cpu, wall = cpu_seconds(tracer.child.pid) - before[0], time.monotonic() - before[1]
        tracer.stop()
    except (TargetError, blip.BlipError) as e:
        return skipped(SECTION, row_id, name, str(e))
    share = 100 * cpu / (wall - CATCH_UP_SECONDS)
    row = Row(SECTION, row_id, name, "% cpu", 1, share, share)
    recorded = rate * settings.drain_seconds - tracer.discarded
    row.columns = {"rate": reached / 1e6, "discarded": tracer.discarded, "events": tracer.events,
                   "calls": target.calls, "capacity": recorded / cpu / 1e6 if cpu else 0,
                   "bytes": directory_size(tracer.trace) / max(tracer.events, 1)}
    must = rate == MUST_RATE
    row.checks.append(Check("discarded", tracer.discarded, 0 if must else None, 0))
    row.checks.append(Check("% of a core", share, 10 if must else None, 10))
    if tracer.events + tracer.discarded + tracer.skipped != target.calls:
        row.problem = (f"{target.calls} calls, but {tracer.events} + {tracer.discarded} discarded + "
                       f"{tracer.skipped} skipped")
    target.end()
    scope.remove(tracer.trace)
    return row
