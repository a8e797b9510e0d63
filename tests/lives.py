#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the events of --lifecycle with the log that random programs (tests/targets/lives.c) write.

    tests/lives.py --blip build/blip --targets build/targets [--seed N] [--rounds N]

Each round is a program and a way to trace it: record or trace, one of the ways to build it. Without --seed it takes one from the
clock and prints it. It fails if a thread, a child or an end is missing, told twice or invented, if a parent or a status differs, or if something
happens before its begin or after its end.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

KINDS = ("lives", "lives_static", "lives_musl", "lives_musl_static")
SECONDS = 120


class Told:
    """The events that blip shows: [(name, pid, tid, fields)], in order of time."""

    def __init__(self, blip, program, seed, verb, folder):
        log = folder / "log"
        command = [blip, verb, "--function", "work", "--lifecycle"]
        command += ["-o", str(folder / "trace")] if verb == "record" else ["--json"]
        ran = subprocess.run([*command, "--", str(program), str(seed), str(log)], capture_output=True, text=True, timeout=SECONDS)
        self.code, self.err = ran.returncode, ran.stderr
        self.log = [line.split() for line in log.read_text().splitlines()]
        text = ran.stdout
        if verb == "record":
            text = subprocess.run([blip, "view", "--json", str(folder / "trace")], capture_output=True, text=True, check=True,
                                  timeout=SECONDS).stdout
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        self.events = [(e["name"], e["pid"], e["tid"], e.get("fields", {})) for e in lines if e.get("kind") == "event"]


def differences(wanted, got, what):
    wanted, got = collections.Counter(wanted), collections.Counter(got)
    return [f"{what} {x}: {n} of {wanted[x]} told" for x in wanted | got for n in [got[x]] if n != wanted[x]]


def order_of(told):
    """Lists events that are out of order. The work of a child of vfork counts for nobody, because it runs in its parent's memory."""
    bad, threads = [], {}
    for name, pid, tid, _ in told.events:
        key = (pid, tid)
        if name == "thread:begin":
            threads[key] = "begun"
        elif name == "thread:end":
            if threads.get(key) != "begun":
                bad.append(f"thread:end of {key} without a begin")
            threads[key] = "ended"
        elif name == "work" and threads.get(key) != "begun":
            bad.append(f"work() of {key}, which is {threads.get(key, 'not there')}")
    return bad


def check(told, seed):
    lives = [e for e in told.events if ":" in e[0]]
    own = {int(a) for what, a, _ in told.log if what == "thread"}  # processes that run the program's own code
    forks = [(int(a), int(b)) for what, a, b in told.log if what == "fork"]
    ends = [(int(a), int(b)) for what, a, b in told.log if what == "end"]
    bad = [] if told.code == seed % 50 else [f"exit code {told.code}"]
    bad += differences([(int(a), int(b)) for what, a, b in told.log if what == "thread"],
                       [(pid, tid) for name, pid, tid, _ in lives if name == "thread:begin" and pid in own], "thread:begin")
    bad += differences([e[1:3] for e in lives if e[0] == "thread:begin"], [e[1:3] for e in lives if e[0] == "thread:end"],
                       "thread:end of")
    bad += differences(forks, [(f["parent"], pid) for name, pid, _, f in lives if name == "process:fork"], "process:fork")
    bad += differences([pid for pid, _ in ends], [pid for name, pid, _, _ in lives if name == "process:end" and pid != lives[0][1]],
                       "process:end")
    known = {pid: -f["signal"] if f["signal"] > 0 else f["status"]
             for name, pid, _, f in lives if name == "process:end" and f["signal"] != -1}
    bad += [f"status of {pid}: {known[pid]}, not {status}" for pid, status in ends if known.get(pid, status) != status]
    return bad + order_of(told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blip", required=True)
    parser.add_argument("--targets", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"seed {options.seed}")
    kinds = [k for k in KINDS if (options.targets / k).exists()]
    failed = lives = 0
    for _ in range(options.rounds):
        seed, kind, verb = rng.randrange(1 << 16), rng.choice(kinds), rng.choice(("record", "trace"))
        with tempfile.TemporaryDirectory() as folder:
            told = Told(options.blip, options.targets / kind, seed, verb, pathlib.Path(folder))
        bad = check(told, seed)
        lives += len(told.log)
        print(f"{kind} {seed} {verb}: {len(told.log)} lines, {len(told.events)} events", "WRONG" if bad else "")
        for text in bad[:20]:
            print("   ", text)
        if bad:
            print("   ", told.err.strip().replace("\n", "\n    "))
        failed += bool(bad)
    print(f"{lives} lines of truth, {failed} of {options.rounds} rounds wrong")
    return 1 if failed or not lives else 0


if __name__ == "__main__":
    sys.exit(main())
