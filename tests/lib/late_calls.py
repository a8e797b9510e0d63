#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A blip is killed before each of its lists of remote calls, and the thread that is to make them runs only when the next blip has looked around.

usage: late_calls.py TARGET... -- BLIP...

The target is stopped (SIGSTOP) before `blip BLIP... -p PID` comes, so that its thread stays before the first call when that blip is
killed. `blip clean` is held where it starts its tracing thread, after it has read the maps; now the target goes on and makes the
calls, then `blip clean` goes on. Nothing may stay. Ends with the number of lists.
"""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from e2e import state
from e2e.process import Failure, Process, poll
from e2e.scene import innermost

PATIENCE = 40
HERE = pathlib.Path.cwd()


def strace(name, options, words):
    log = HERE / "strace.log"
    log.write_text("")
    return Process(name, ["strace", "-f", "-qq", "-o", str(log), *options, *words], HERE, os.environ, stdin=subprocess.DEVNULL), log


class Round:
    def __init__(self, target):
        self.deadline = time.monotonic() + PATIENCE
        self.target = Process("late", target, HERE, os.environ)
        poll("the target", self.deadline, lambda: "ready" in self.target.out())
        self.wait_for_state("S")
        self.before = state.snapshot(self.target.pid)
        os.kill(self.target.pid, signal.SIGSTOP)
        self.wait_for_state("T")

    def wait_for_state(self, letter):
        poll(f"the target's state to be {letter}", self.deadline, lambda: state.state_letter(self.target.pid) == letter)

    def run(self, blip, options):
        """strace's log of blip, which may be killed."""
        process, log = strace("blip", options, [*blip, "-p", str(self.target.pid)])
        process.wait(self.deadline)
        return log.read_text()

    def clean(self):
        process, log = strace("clean", ["-e", "trace=clone3", "-e", "inject=clone3:signal=STOP:when=1"],
                              ["blip", "clean", "-q", "-p", str(self.target.pid)])
        poll("blip clean to look", self.deadline, lambda: "stopped by SIGSTOP" in log.read_text() or process.code() is not None)
        os.kill(self.target.pid, signal.SIGCONT)
        self.wait_for_state("S")
        poll("blip clean to end", self.deadline, lambda: self.goes_on(process))
        if process.wait(self.deadline) != 0:
            raise Failure(f"blip clean: {process.err()[-300:]}")
        return state.differences(self.before, state.snapshot(self.target.pid))

    @staticmethod
    def goes_on(process):
        """Whether it has ended; if not, it goes on. strace counts calls by thread, so each thread that starts another one is held."""
        if process.code() is not None:
            return True
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            os.kill(innermost(process.pid), signal.SIGCONT)
        return False


def calls(log):
    """The numbers of the ptrace calls that let a thread go into remote calls: in the thread that attaches first."""
    requests = re.findall(r"^(\d+) +ptrace\((\w+)", log, re.M)
    mine = [request for thread, request in requests if thread == requests[0][0]]
    return [i + 1 for i, request in enumerate(mine) if request in ("PTRACE_SYSCALL", "PTRACE_CONT") and mine[i - 1] == "PTRACE_SETREGS"]


@contextlib.contextmanager
def new_round(target):
    this = Round(target)
    try:
        yield this
    finally:
        this.target.kill()


def main():
    split = sys.argv.index("--")
    target, blip = sys.argv[1:split], sys.argv[split + 1:]
    try:
        with new_round(target) as this:
            numbers = calls(this.run([*blip, "-o", "undisturbed"], ["-e", "trace=ptrace"]))
        for number in numbers:
            with new_round(target) as this:
                this.run([*blip, "-o", f"t{number}"], ["-e", "trace=ptrace", "-e", f"inject=ptrace:signal=KILL:when={number}"])
                if wrong := this.clean():
                    raise Failure(f"ptrace call {number}: " + "; ".join(wrong))
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"lists={len(numbers)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
