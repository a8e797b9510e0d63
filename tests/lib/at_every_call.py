#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Something happens to the target while blip stands at its Nth system call of one kind, for many N.

usage: at_every_call.py WHAT CALL STEP TARGET... -- BLIP...

Per round a new TARGET (of tests/targets) and `blip BLIP... -p PID` under strace, which stops blip at its 1st, 1 + STEPth, ...
CALL. Then WHAT happens, and blip goes on:
  kill   the target is killed          exit   its input ends, so that it exits with 0
  round  it does a round of work (and what that entails: exec, fork), afterwards another one, then exits with 0
  reuse  it is killed, and another process (hammer, which has no function work) gets its pid; needs a pid namespace
blip must come to an end by itself, and the target to the end it should have. Ends with the number of rounds.
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
from e2e.process import Failure, Process, describe, poll
from e2e.scene import innermost

PATIENCE = 20
ENDS = {"kill": "killed by KILL", "exit": "exits 0", "round": "exits 0"}
STOPPED = "stopped by SIGSTOP"


class Round:
    def __init__(self, what, call, number, target, blip):
        self.what, self.deadline = what, time.monotonic() + PATIENCE
        here = pathlib.Path.cwd()
        self.log = here / "strace.log"
        self.log.write_text("")
        self.target = Process("swept", target, here, os.environ)
        self.wait_for_line("ready")
        words = ["strace", "-f", "-o", str(self.log), "-e", f"trace={call}", "-e", f"inject={call}:signal=STOP:when={number}",
                 *blip, "-p", str(self.target.pid)]
        self.blip = Process("blip", words, here, os.environ, stdin=subprocess.DEVNULL)
        self.other = None
        self.was_armed = False

    def wait_for_line(self, text, count=1):
        poll(f"the target to print '{text}'", self.deadline, lambda: self.target.out().split().count(text) >= count)

    def wait_for_stop(self):
        """False if blip has come to its end without it."""
        poll("blip to stand or to end", self.deadline, lambda: STOPPED in self.log.read_text() or self.blip.code() is not None)
        return STOPPED in self.log.read_text()

    def happen(self):
        self.was_armed = "armed" in self.blip.err()
        if self.what == "exit":
            self.target.close_stdin()
        elif self.what == "round":
            self.target.send_line()
        else:
            os.kill(self.target.pid, signal.SIGKILL)
        if self.what == "reuse":
            self.target.popen.wait()
            self.other = self.start_with_pid(self.target.pid)

    def start_with_pid(self, pid):
        """hammer, as the process `pid`: the next pid is the last one plus one."""
        def started():
            pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
            process = Process("other", [str(pathlib.Path(self.target.argv[0]).parent / "hammer"), "1"], pathlib.Path.cwd(), os.environ)
            if process.pid == pid:
                return process
            process.kill()
            return None
        process = poll("the pid to be free", self.deadline, started)
        poll("the other process", self.deadline, lambda: "ready" in process.out())
        return process

    def let_blip_go_on(self):
        """To its end: strace counts per thread, so that a second one may be stopped too."""
        def ended():
            if self.log.read_text().rstrip().endswith(STOPPED + " ---"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(innermost(self.blip.pid), signal.SIGCONT)
            return self.blip.code() is not None
        poll(f"blip (pid {self.blip.pid}) to end", self.deadline, ended)

    def check_end(self, number):
        code = self.blip.code()
        if code not in (0, 1):
            raise Failure(f"call {number}: blip {describe(code)}: {self.blip.err()[-300:]}")
        if self.what == "reuse":
            return self.check_other(number)
        if self.what == "round":
            poll("the end of the round", self.deadline, lambda: re.search("done|again", self.target.out()))
            self.target.send_line()
        self.target.close_stdin()
        end = describe(self.target.wait(self.deadline))
        if end != ENDS[self.what]:
            raise Failure(f"call {number}: the target {end}, expected: {ENDS[self.what]}; blip: {self.blip.err()[-300:]}")

    def check_other(self, number):
        if "armed" in self.blip.err() and not self.was_armed:
            raise Failure(f"call {number}: blip armed another process: {self.blip.err()[-300:]}")
        if not state.is_alive(self.other.pid) or not state.untouched(self.other.pid):
            raise Failure(f"call {number}: the process that got the pid was harmed")

    def clean_up(self):
        for process in (self.blip, self.target, self.other):
            if process:
                process.kill()


def sweep(what, call, step, target, blip):
    for number in range(1, 10_000, step):
        this = Round(what, call, number, target, blip)
        try:
            stood = this.wait_for_stop()
            if stood:
                this.happen()
                this.let_blip_go_on()
                this.check_end(number)
        finally:
            this.clean_up()
        if not stood:
            return number // step
    return 0


def main():
    what, call, step, *words = sys.argv[1:]
    split = words.index("--")
    try:
        rounds = sweep(what, call, int(step), words[:split], words[split + 1:])
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"rounds={rounds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
