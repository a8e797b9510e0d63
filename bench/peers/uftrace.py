# SPDX-License-Identifier: MIT
"""uftrace: starts the program itself and records entry and exit, so one call makes two records."""
import re
import shutil
import subprocess

from harness.scope import directory_size, end
from harness.target import Target

from .subject import PAUSE_MS, NoTracer, Subject

NAME = "uftrace"
CASES = {  # label, program, options
    "mcount": ("uftrace -pg, one int, entry + exit", "bench_target_mcount", ["-A", "work@arg1"]),
    "patchable": ("uftrace -P, patchable entry, one int, entry + exit", "bench_target_patchable",
                  ["-P", "work", "-A", "work@arg1"]),
}


class Tracer(NoTracer):
    def __init__(self, target, output):
        self._target = target
        self.output = output
        self._stopped = False

    def stop(self):
        if not self._stopped:
            self._stopped = True
            self._target.child.stdin.close()
            try:
                self._target.child.wait(20)
            except subprocess.TimeoutExpired:
                end(self._target.child)

    def problem(self, subject):
        done = subprocess.run(["uftrace", "report", "--no-pager", "-d", self.output, "-F", "work"],
                              capture_output=True, text=True, timeout=60, check=False)
        found = re.search(r"(\d+)\s+work$", done.stdout, re.M)
        calls, seen = subject.target.calls, int(found[1]) if found else 0
        return None if seen == calls else f"{calls} calls, {seen} recorded"


def unavailable(_scope):
    return None if shutil.which("uftrace") else "uftrace is not installed (package uftrace)"


def start(scope, threads):
    return [_start(scope, threads, case) for case in CASES]


def _start(scope, threads, case):
    label, program, options = CASES[case]
    output = scope.path("uftrace")
    target = Target(scope, program, prefix=["uftrace", "record", "--no-libcall", "--no-event", "-d", output, *options])
    tracer = Tracer(target, output)
    target.run("work", 8, 25_000, PAUSE_MS, threads)
    subject = Subject(f"uftrace.{case}", label, target, tracer=tracer, every=3)
    subject.trace_bytes = lambda: {"bytes": directory_size(output) / target.calls}
    return subject
