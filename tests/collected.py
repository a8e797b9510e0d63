#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what blip shows of containers, in containers and structures, with the values that random programs print themselves
(tests/collected/program.py), live and in a stored trace.

    tests/collected.py --blip build/blip [--seed N] [--rounds N] [--keep DIR]

Each round builds a random program with a random compiler at a random level. A value that
is cut must say so, and show the beginning of the real one.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent / "collected"
sys.path.insert(0, str(HERE))
import program  # noqa: E402

COMPILERS = (("g++",), ("clang++-14",), ("clang++-14", "-stdlib=libc++"))
LEVELS = ("-O0", "-O1", "-O2")


class Comparison:
    def __init__(self):
        self.counts, self.lines = collections.Counter(), []

    def note(self, kind, text):
        self.counts[kind] += 1
        if len(self.lines) < 40:
            self.lines.append(f"  {kind}: {text}")

    def wrong(self, where, ours, theirs):
        self.note("wrong", f"{where}: blip {json.dumps(ours)[:200]}, the program {json.dumps(theirs)[:200]}")

    def compare(self, event, where, ours, theirs):
        cut, missing = where in event.get("cut", []), event.get("missing", {}).get(where)
        if isinstance(theirs, dict) and "bad" in theirs:
            return self.equal(where, missing, "bad address", ours)
        if isinstance(theirs, dict) and "edge" in theirs:
            return self.equal(where, (ours, cut), ("eeeee", True), ours)
        if ours is None and theirs is not None:
            return self.note("missing", f"{where}: {missing}")
        if isinstance(theirs, list):
            return self.elements(event, where, ours, theirs, cut)
        if isinstance(theirs, dict):
            if list(ours) != list(theirs):
                return self.wrong(where, list(ours), list(theirs))
            for key, value in theirs.items():
                self.compare(event, f"{where}/{key}", ours[key], value)
            return None
        if isinstance(theirs, str) and cut:
            self.counts["cut"] += 1
            return self.equal(where, theirs.startswith(ours) and len(ours) < len(theirs), True, ours)
        if isinstance(theirs, float):
            return self.equal(where, math.isclose(ours, theirs, rel_tol=1e-12), True, ours)
        return self.equal(where, ours, theirs, ours)

    def equal(self, where, ours, theirs, shown):
        if ours == theirs and isinstance(ours, bool) == isinstance(theirs, bool):
            self.counts["equal"] += 1
        else:
            self.wrong(where, shown, theirs)

    def elements(self, event, where, ours, theirs, cut):
        if not isinstance(ours, list) or (len(ours) != len(theirs) and not cut) or len(ours) > len(theirs):
            return self.wrong(where, ours, theirs)
        if cut:
            self.counts["cut"] += 1
            size = event.get("sizes", {}).get(where, len(theirs))
            if size != len(theirs):
                self.wrong(where, size, len(theirs))
        for i, (mine, value) in enumerate(zip(ours, theirs)):
            self.compare(event, f"{where}/{i}", mine, value)
        return None

    def compare_all(self, what, events, path):
        calls = [line.split(" ", 1) for line in path.read_text().splitlines()]
        if [e["name"] for e in events] != [name for name, _ in calls]:
            return self.note("events", f"{what}: {len(events)} of {len(calls)}")
        for event, (name, text) in zip(events, calls):
            if "args" in event and "v" in event["args"]:
                self.compare(event, "/args/v", event["args"]["v"], json.loads(text))
            else:
                self.note("missing", f"{what} {name}: {event}")
        return None


def events_of(text):
    return [json.loads(line) for line in text.splitlines()]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr[:600]}")
    return done.stdout


def one_round(blip, seed, compilers, directory):
    rng = random.Random(seed)
    compiler, level = rng.choice(compilers), rng.choice(LEVELS)
    functions = [word for n in range(8) for word in ("--function", f"f{n}")]
    source, binary, calls, stored = (directory / name for name in ("program.cc", "program", "calls", f"trace{seed}"))
    source.write_text(program.Program(rng).source(seed))
    # At -O1 a function may have one byte, which leaves no room for a jump beside its neighbours.
    run([*compiler, "-std=c++20", "-g", level, "-falign-functions=16", "-w", "-o", str(binary), str(source)])
    comparison = Comparison()
    live = run([blip, "trace", "-q", "--json", "--args", *functions, "--", str(binary), str(calls)])
    comparison.compare_all("trace", events_of(live), calls)
    run([blip, "record", "-q", "--args", *functions, "-o", str(stored), "--", str(binary), str(calls)])
    viewed = events_of(run([blip, "view", "--json", str(stored)]).replace("_0_", "[0]").replace("_1_", "[1]").replace("_2_", "[2]"))
    comparison.compare_all("view", [e for e in viewed if "args" in e], calls)
    print(f"seed {seed}, {' '.join(compiler)} {level}: " + ", ".join(f"{n} {kind}" for kind, n in sorted(comparison.counts.items())))
    print("\n".join(comparison.lines), end="\n" if comparison.lines else "")
    return comparison.counts


def usable():
    """The compilers that can build a program: libc++ may be missing."""
    found = []
    for compiler in COMPILERS:
        done = subprocess.run([*compiler, "-x", "c++", "-fsyntax-only", "-"], input="#include <map>\n", capture_output=True, text=True)
        found += [compiler] if done.returncode == 0 else []
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--blip", required=True)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--keep")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else int(time.time()) % 1000000
    total, compilers = collections.Counter(), usable()
    with tempfile.TemporaryDirectory() as temporary:
        for n in range(args.rounds):
            directory = pathlib.Path(args.keep or temporary)
            directory.mkdir(exist_ok=True)
            total += one_round(args.blip, seed + n, compilers, directory)
    print("in all: " + ", ".join(f"{n} {kind}" for kind, n in sorted(total.items())))
    bad = [kind for kind in total if kind not in ("equal", "cut")]
    return 1 if bad or not total["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
