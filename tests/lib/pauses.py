#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""blip comes and goes under --max-pause, on a machine that is as busy as asked: no stop may be longer, neither by what blip says nor by
what the target (`paused`) has seen.

usage: pauses.py SESSIONS LOAD MS TARGET... -- BLIP...

`blip BLIP... --max-pause MS -v -p PID`, @ being the number of the session, must arm all that it is asked to, or say what not, and take it
out again. Ends with the number of sessions, and the longest pauses as blip and the target tell of them.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from e2e.process import Failure, Process, poll

PATIENCE = 20
ARMED = re.compile(r"armed (\d+) probes? in [\d.]+ ms \(target paused ([\d.]+) ms\)(?:, (\d+) refused)?")
DETACHED = re.compile(r"detached in [\d.]+ ms \(target paused ([\d.]+) ms\)")
HERE = pathlib.Path.cwd()


class Target:
    def __init__(self, words):
        self.process = Process("paused", words, HERE, os.environ)
        poll("the target", time.monotonic() + PATIENCE, lambda: "ready" in self.process.out())
        self.rounds = 0
        self.answers = set()

    def seen(self):
        """ms: the longest pause since the last round, by the target's own clock."""
        self.process.send_line()
        self.rounds += 1
        poll("a round", time.monotonic() + PATIENCE, lambda: self.process.out().splitlines().count("done") == self.rounds)
        self.answers.add(re.findall(r"checksum=(\w+)", self.process.out())[-1])
        if len(self.answers) != 1:
            raise Failure(f"the target's answers differ: {self.answers}")
        return int(re.findall(r"paused=(\d+)", self.process.out())[-1]) / 1000


def session(target, blip, number):
    """What blip says of attaching and leaving, what the target has seen of both, and how many probes were armed and refused."""
    target.seen()
    words = [*(word.replace("@", str(number)) for word in blip), "-v", "-p", str(target.process.pid)]
    tracer = Process(f"blip{number}", words, HERE, os.environ, stdin=subprocess.DEVNULL)
    poll("blip to arm", time.monotonic() + PATIENCE, lambda: ARMED.search(tracer.err()) or tracer.code() is not None)
    if not (armed := ARMED.search(tracer.err())):
        raise Failure(f"session {number}: not armed: {tracer.err().strip()}")
    attaching = target.seen()
    tracer.popen.send_signal(signal.SIGINT)
    if tracer.wait(time.monotonic() + PATIENCE) != 0 or not (left := DETACHED.search(tracer.err())):
        raise Failure(f"session {number}: {tracer.err().strip()}")
    return float(armed[2]), attaching, float(left[1]), target.seen(), (int(armed[1]), int(armed[3] or 0))


def run(sessions, load, limit, target, blip):
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    try:
        traced = Target(target)
        results = [session(traced, [*blip, "--max-pause", str(limit)], n) for n in range(sessions)]
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    traced.process.close_stdin()
    if traced.process.wait(time.monotonic() + PATIENCE) != 0:
        raise Failure("the target ended badly")
    longest = [max(result[i] for result in results) for i in range(4)]
    armed = {result[4] for result in results}
    print(f"sessions={sessions} armed={sorted(armed)} said={longest[0]}/{longest[2]} seen={longest[1]}/{longest[3]}")
    for number, result in enumerate(results):
        if max(result[:4]) > limit:
            raise Failure(f"session {number}: longer than {limit} ms: said {result[0]} and {result[2]}, seen {result[1]} and {result[3]}")
        if sum(result[4]) != sum(results[0][4]):
            raise Failure(f"session {number}: {result[4][0]} armed and {result[4][1]} refused, {results[0][4]} before")


def main():
    split = sys.argv.index("--")
    sessions, load, limit = (int(word) for word in sys.argv[1:4])
    try:
        run(sessions, load, limit, sys.argv[4:split], sys.argv[split + 1:])
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
