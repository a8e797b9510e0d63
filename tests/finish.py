#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares $return with what gdb's `finish` says, for random functions (tests/finish/program.py).

    tests/finish.py --blip build/blip [--seed N] [--rounds N] [--quick]

It fails if a value differs, if blip shows one where gdb has none, if more than 1 % of gdb's are missing, or if more than
2 % of the functions are not probed.
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

HERE = pathlib.Path(__file__).resolve().parent / "finish"
sys.path.insert(0, str(HERE))
import program  # noqa: E402

BUILDS = [(compiler, language, level) for compiler, language in (("gcc", "c"), ("g++", "cc"), ("clang-14", "c"), ("clang++-14", "cc"))
          for level in ("-O0", "-O2")]
LEAST = 0.99
MOST_NOT_PROBED = 0.02


def same(ours, theirs):
    if isinstance(theirs, dict) and "pointer" in theirs:  # to characters
        return ours in (theirs["pointer"], theirs["text"])
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and all(same(ours.get(name), value) for name, value in theirs.items())
    if isinstance(theirs, list) and isinstance(ours, str):  # characters, up to NUL
        if not all(isinstance(byte, int) for byte in theirs):
            return False
        text = [byte & 0xff for byte in theirs]
        text = text[:text.index(0)] if 0 in text else text
        return len(text) == len(ours) and all(c == chr(byte) or byte >= 0x80 and c == "\ufffd" for c, byte in zip(ours, text))
    if isinstance(theirs, list) and isinstance(ours, dict):  # in registers
        ours = [ours.get(f"[{i}]") for i in range(len(ours))]
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, float):
        return isinstance(ours, (int, float)) and math.isclose(ours, theirs, rel_tol=1e-6)
    if isinstance(ours, str) and isinstance(theirs, int) and len(ours) == 1:
        return ord(ours) == theirs & 0xff
    if isinstance(ours, str) and isinstance(theirs, int):
        return {"RED": 0, "GREEN": 5, "BLUE": -3}.get(ours, ours) == theirs or ours == f"0x{theirs:x}"
    return ours == theirs


def is_missing(ours):
    """True if blip says that a part of the value is unknown."""
    if isinstance(ours, dict):
        return any(map(is_missing, ours.values()))
    return ours is None or isinstance(ours, str) and ours.startswith("<")


def from_gdb(path):
    done = subprocess.run(["gdb", "-nx", "--batch", "-x", str(HERE / "in_gdb.py"), str(path)], capture_output=True, text=True,
                          timeout=120, stdin=subprocess.DEVNULL)
    values = [json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("VALUE ")]
    if not values:
        raise SystemExit(done.stdout + done.stderr)
    return dict(values)


def from_blip(blip, path):
    done = subprocess.run([blip, "trace", "-q", "--json", "--return", "f[0-9]*", "--capture", "r = $return", "--", str(path)],
                          capture_output=True, text=True, timeout=120)
    values = {}
    for line in done.stdout.splitlines():
        event = json.loads(line)
        values[event["name"].removesuffix(":return").split("(")[0]] = event.get("captures", {}).get("r")
    if not values:
        raise SystemExit(done.stderr)
    return values


def compare(blip, path):
    counts, lines = collections.Counter(), []
    theirs, ours = from_gdb(path), from_blip(blip, path)
    for name in sorted(set(theirs) | set(ours)):
        if name not in ours:
            counts["not probed"] += 1
            continue
        if name not in theirs:
            kind = "equal" if is_missing(ours[name]) else "invented"
        elif same(ours.get(name), theirs[name]):
            kind = "equal"
        else:
            kind = "missing" if is_missing(ours.get(name)) else "wrong"
        counts[kind] += 1
        if kind != "equal":
            lines.append(f"  {kind}: {name}: gdb {theirs.get(name)}, blip {ours.get(name)}")
    return counts, lines


def is_good(counts):
    known = counts["equal"] + counts["missing"]
    return (known > 0 and not counts["wrong"] and not counts["invented"] and counts["equal"] >= LEAST * known
            and counts["not probed"] <= MOST_NOT_PROBED * counts.total())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blip", required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="3 of the 8 ways to build it")
    options = parser.parse_args()
    failed = False
    for seed in range(options.seed, options.seed + options.rounds):
        for compiler, language, level in BUILDS[1::3] if options.quick else BUILDS:
            with tempfile.TemporaryDirectory() as directory:
                source = pathlib.Path(directory) / f"program.{language}"
                source.write_text(program.text(random.Random(f"{seed} {language}"), language == "cc"))
                path = source.with_suffix("")
                subprocess.run([compiler, "-g", level, "-no-pie", "-w", "-o", path, source], check=True)
                counts, lines = compare(options.blip, path)
            good = is_good(counts)
            failed |= not good
            print(f"seed {seed} {compiler} {level}: {dict(counts)}", "" if good else "FAILED", flush=True)
            print("\n".join(lines) if lines else "", end="\n" if lines else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
