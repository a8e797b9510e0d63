# SPDX-License-Identifier: MIT
"""A measured program (burst.h): takes commands, answers with CPU time per call."""
import os
import select
import subprocess
import time


class TargetError(Exception):
    pass


class Target:
    def __init__(self, scope, program, env=None):
        path = scope.program(program)
        if not os.path.exists(path):
            raise TargetError(f"{program} is not built")
        self.child = scope.spawn([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                 env=dict(os.environ, **(env or {})))
        self.pid = self.child.pid
        self.calls = 0  # made so far, to hold against what a tracer says it saw
        self._pending = b""
        self._read_line(30)

    def run(self, variant, bursts, calls, pause_ms, threads=1):
        """ns of CPU time per call, one number per burst."""
        words = self._ask(f"run {variant} {bursts} {calls} {int(pause_ms * 1000)} {threads}", 60)
        self.calls += bursts * calls * threads
        return [float(w) for w in words]

    def rate(self, variant, per_second, seconds):
        """Calls at a steady rate from one thread; returns the rate reached."""
        calls, wall_ns = self._ask(f"rate {variant} {per_second} {int(seconds * 1000)}", seconds * 3 + 10)
        self.calls += int(calls)
        return int(calls) / (int(wall_ns) / 1e9)

    def end(self):
        self.child.stdin.close()
        self.child.wait(10)

    def _ask(self, command, seconds):
        self.child.stdin.write(command.encode() + b"\n")
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
