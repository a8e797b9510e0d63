# SPDX-License-Identifier: MIT
"""fork() of a large process: does a trace that is attached make it slower?

The same process is measured untraced and traced in turn; the rings of the trace are mapped shared, so that a fork copies no page
tables of them.
"""
import os
import subprocess

from .blip import Blip, BlipError
from .rows import Check, Row, skipped, summarize
from .scope import end

SECTION = "fork"
MIB = 1024
FORKS = 10  # of each kind in a round


def rows(scope, settings):
    name = "fork of a 1 GiB process, traced / untraced"
    program = scope.program("bench_forks")
    if not os.path.exists(program):
        return [skipped(SECTION, "fork.large", name, "bench_forks is not built")]
    target = scope.spawn([program, str(MIB)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    if not target.stdout.readline().startswith(b"ready"):
        return [skipped(SECTION, "fork.large", name, "the program did not start: not enough memory?")]
    try:
        plain, traced = _measure(scope, target, settings.attaches)
    except BlipError as e:
        return [skipped(SECTION, "fork.large", name, str(e))]
    finally:
        end(target)
    row = Row(SECTION, "fork.large", name, "us", **summarize(traced))
    row.columns = {"untraced": min(plain), "ratio": min(traced) / min(plain)}
    row.checks = [Check("x untraced", min(traced) / min(plain), 1.1, 1.0)]
    return [row]


def _measure(scope, target, rounds):
    plain, traced = [], []
    for _ in range(rounds):
        plain += _forks(target)
        tracer = Blip(scope, "record", target.pid, ["--function", "work"])
        traced += _forks(target)
        tracer.stop()
    return plain, traced


def _forks(target):
    """us of each fork."""
    times = []
    for _ in range(FORKS):
        target.stdin.write(b"\n")
        times.append(int(target.stdout.readline()) / 1000)
    return times
