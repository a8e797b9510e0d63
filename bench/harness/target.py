# SPDX-License-Identifier: MIT
"""A measured program (burst.h): takes commands, answers with CPU and wall time per call."""
import collections
import os
import select
import shutil
import subprocess
import time


class TargetError(Exception):
    pass


class Target:
    """Starts `PREFIX... PROGRAM`; with a prefix `pid` is still the program's, as it says itself.

    With `copy` from a file of its own: bpftrace 0.17 puts its uprobes into every process that maps the file, -p or not, and
    one on a function that blip has patched makes that process jump into the middle of an instruction.
    """

    def __init__(self, scope, program, env=None, prefix=(), patience=30, copy=False, **options):
        path = scope.program(program)
        if not os.path.exists(path):
            raise TargetError(f"{program} is not built")
        self.path = shutil.copy(path, scope.path(program)) if copy else path
        self.child = scope.spawn([*prefix, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                 env=dict(os.environ, **(env or {})), **options)
        self.calls = 0  # made so far, to hold against what a tracer says it saw
        self.calls_of = collections.Counter()  # the same by variant
        self.walls = []  # wall times of the last run, one per burst
        self._pending = b""
        self.pid = self._greeting(patience)

    def _greeting(self, seconds):
        deadline = time.monotonic() + seconds
        while True:  # a tracer in front may talk first
            words = self._read_line(deadline - time.monotonic()).split()
            if len(words) == 2 and words[0] == "ready":
                return int(words[1])

    def run(self, variant, bursts, calls, pause_ms, threads=1):
        """ns of CPU time per call, one number per burst."""
        words = self._ask(f"run {variant} {bursts} {calls} {int(pause_ms * 1000)} {threads}", 60)
        self.calls += bursts * calls * threads
        self.calls_of[variant] += bursts * calls * threads
        pairs = [[float(n) for n in w.split("/")] for w in words]
        self.walls = [wall for _, wall in pairs]
        return [cpu for cpu, _ in pairs]

    def rate(self, variant, per_second, seconds):
        """Calls at a steady rate from one thread; returns the rate reached."""
        calls, wall_ns = self._ask(f"rate {variant} {per_second} {int(seconds * 1000)}", seconds * 3 + 10)
        self.calls += int(calls)
        return int(calls) / (int(wall_ns) / 1e9)

    def spin(self, steps):
        """Steps of work the spinning variants do per call from now on."""
        self._ask(f"spin {steps}", 10)

    def end(self):
        self.child.stdin.close()
        self.child.wait(10)

    def _ask(self, command, seconds):
        try:
            self.child.stdin.write(command.encode() + b"\n")
        except OSError as e:
            raise TargetError(f"{self.child.args[0]} died (status {self.child.wait()})") from e
        head, *rest = self._read_line(seconds).split()
        if head == "error:":
            raise TargetError(f"{self.child.args[0]} refused: {command}")
        return rest

    def _read_line(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.child.stdout], [], [], left)[0]:
                raise TargetError(f"{self.child.args[0]} gave no answer in {seconds:.0f} s")
            more = self.child.stdout.read(1 << 16)
            if not more:
                raise TargetError(f"{self.child.args[0]} died (status {self.child.wait()})")
            self._pending += more
        line, self._pending = self._pending.split(b"\n", 1)
        return line.decode()
