#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what blip shows of arguments and results with the values that random programs print themselves
(tests/passed/program.py): --args, $return, members in filters and captures.

    tests/passed.py --blip build/blip [--seed N] [--rounds N] [--keep DIR]

Each round builds a random program with a random compiler at a random level. Without --seed it takes one from the clock and prints it.
It fails if a value differs, if an event is missing, or if blip does not know what the calling convention tells.
"""
import argparse
import collections
import decimal
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent / "passed"
sys.path.insert(0, str(HERE))
import program  # noqa: E402

COMPILERS = (("gcc", "c"), ("g++", "cc"), ("clang-14", "c"), ("clang++-14", "cc"))
LEVELS = ("-O0", "-Og", "-O1", "-O2", "-O3")
COLORS = {"RED": 0, "GREEN": 5, "BLUE": -3}
UNKNOWN = object()
UPPER_HALF = "in the upper half of a register"
HALF_A_BIT = decimal.Decimal("5.5e-20")  # of a long double
PART = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+)\]")
MOST_FILTERS = 24
MOST_OF_CLANGS = 0.05
ALLOWED = ("a clone's", "a local function's", "clang's", "in st(0)", "an upper half's", "a wide vector's", "a split integer's")  # what is not known for a reason


def calls_of(path):
    """[(function, {path: text})] as the program logs them."""
    calls = []
    for line in path.read_text().splitlines():
        name, value = line.split(" ", 1)
        if name == "call":
            calls.append((value, {}))
        else:
            calls[-1][1][name] = value
    return calls


def fields_of(event):
    return event.get("args") or event.get("captures") or event


def part(value, path):
    """The value at a path in blip's JSON. UNKNOWN if blip does not know it: it is null, or a part of something that is null."""
    for name, index in PART.findall(path):
        if value is None:
            return UNKNOWN
        if index and isinstance(value, list):
            value = value[int(index)]
        elif isinstance(value, dict):
            value = value.get(name or f"[{index}]")
        else:
            return None
    return UNKNOWN if value is None else value


def same_path(pointer, path):
    """True if a JSON pointer and a path in C mean the same value."""
    return re.findall(r"\w+", pointer)[1:] == re.findall(r"\w+", path)


def is_same(ours, theirs):
    if isinstance(ours, bool):
        return int(ours) == int(theirs)
    if isinstance(ours, str) and ours in COLORS:
        return COLORS[ours] == int(theirs)
    if isinstance(ours, str) and re.fullmatch(r"-?(nan|inf)", ours):
        return ours.lstrip("-") == theirs.lstrip("-")
    if isinstance(ours, str) and ours.startswith("0x"):
        return int(ours, 16) == int(theirs)
    if isinstance(ours, str) and len(ours) == 1:
        return ord(ours) == int(theirs) & 0xff
    if theirs.endswith("L"):
        exact = decimal.Decimal(theirs.rstrip("L"))
        is_number = isinstance(ours, (int, float))
        return is_number and abs(decimal.Decimal(getattr(ours, "text", ours)) - exact) <= abs(exact) * HALF_A_BIT
    if isinstance(ours, float) or re.search(r"[.eL]", theirs):
        return isinstance(ours, (int, float)) and math.isclose(float(ours), float(theirs), rel_tol=1e-6, abs_tol=1e-40)
    return isinstance(ours, int) and ours == int(theirs)


def listed(path, what):
    """The words of one of the comments at the end of the source."""
    source = next(path.parent.glob("program.c*"))
    return set(source.read_text().rsplit(f"// {what}:", 1)[1].splitlines()[0].split())


def local_functions(path):
    symbols = subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r" t (f\d+)\b", symbols))


class Real(float):
    """A number of blip's JSON with all of its digits."""

    def __new__(cls, text):
        made = super().__new__(cls, text)
        made.text = text
        return made


class Comparison:
    def __init__(self, blip, path, calls_path, is_clang, is_by_clang):
        """is_by_clang: clang has optimized the program. Callers then do not pass unused arguments, and call local functions in ways of their own."""
        self.is_clang = is_clang
        self.blip, self.path, self.calls_path, self.is_by_clang = blip, path, calls_path, is_by_clang
        self.wide = listed(path, "vectors")
        self.left_out = listed(path, "not used") if is_by_clang else set()
        self.own_way = local_functions(path) if is_by_clang else set()
        self.counts, self.lines = collections.Counter(), []

    def note(self, kind, text):
        self.counts[kind] += 1
        if kind != "equal" and len(self.lines) < 60:
            self.lines.append(f"  {kind}: {text}")

    def trace(self, *words):
        """Events by the name of the function in the source, each with its own name, and the calls of that run."""
        self.calls_path.unlink(missing_ok=True)
        command = [self.blip, "trace", "-q", "--json", *words, "--", str(self.path), str(self.calls_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            self.note("failed", f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[:600]}")
            return {}, {}
        events, calls = collections.defaultdict(list), collections.defaultdict(list)
        for line in done.stdout.splitlines():
            event = json.loads(line, parse_float=Real)
            name = event["name"].removesuffix(":return").split("(")[0]
            if ".part." not in name:  # code of a function that was cut in two
                events[re.match(r"\w+", name)[0]].append((name, event))
        for name, values in calls_of(self.calls_path):
            calls[name].append(values)
        return events, calls

    def compare(self, what, events, calls, paths):
        """paths: the values of a call to compare, by the names that blip has for them."""
        for name, all_values in calls.items():
            ours = events.get(name, [])
            if not ours:
                self.counts["not probed"] += 1
                continue
            if len(ours) != len(all_values):
                # gcc makes one of two functions with the same code: its events have one name.
                merged = any(not events.get(other) for other in calls)
                self.note("merged" if merged else "events", f"{what} {name}: {len(ours)} of {len(all_values)}")
                continue
            for (whole, event), values in zip(ours, all_values):
                for path, theirs in values.items():
                    if path[0] not in paths or self.is_left_out(name, path):
                        continue
                    mine = part(fields_of(event), path)
                    kind = "equal" if mine is not UNKNOWN and mine is not None and is_same(mine, theirs) else "wrong"
                    if mine is UNKNOWN and event.get("missing"):  # else it is not told why
                        kind = self.why_unknown(whole, path, theirs, event["missing"])
                    if kind in ALLOWED:
                        self.counts[kind] += 1
                    else:
                        self.note(kind, f"{what} {whole} {path}: the program has {theirs}, blip {json.dumps(mine) if mine is not UNKNOWN else 'none'}")

    def why_unknown(self, function, path, theirs, reasons):
        if any(reason == UPPER_HALF and same_path(pointer, path) for pointer, reason in reasons.items()):
            return "an upper half's"
        if self.is_clang and re.fullmatch(r"a\d+\[[01]\]", path):  # half of an integer in the last register
            return "a split integer's"
        if function in self.wide:  # in memory without AVX
            return "a wide vector's"
        if "." in function:
            return "a clone's"
        if function in self.own_way:
            return "a local function's"
        if self.is_by_clang and path[0] == "a":
            return "clang's"  # nothing is told, and no use of it is seen
        return "in st(0)" if path[0] == "r" and theirs.endswith("L") else "missing"

    def is_left_out(self, function, path):
        return f"{function}.{re.match('[a-z0-9]+', path)[0]}" in self.left_out

    def filters(self, events, calls, choose):
        """Makes a filter for some functions, which one of their calls passes, and captures one number by itself."""
        words, expected = [], {}
        for name in choose.sample(sorted(events), min(MOST_FILTERS, len(events))):
            if name not in calls or any("." in whole for whole, _ in events[name]) or len(events[name]) != len(calls[name]):
                continue
            values = choose.choice(calls[name])
            known = [path for path, text in values.items()
                     if path[0] == "a" and re.fullmatch(r"-?\d{1,18}", text) and isinstance(part(fields_of(events[name][0][1]), path), (int, str))
                     and not self.is_left_out(name, path) and ".real" not in path and ".imag" not in path and not path.endswith("]")]
            if known:
                path = choose.choice(known)
                words += ["--function", name, "--filter", f"{path} == {values[path]}", "--capture", f"x = {path}"]
                expected[name] = (path, values[path])
        if not words:
            return
        events, calls = self.trace(*words)
        for name, (path, text) in expected.items():
            theirs = [values[path] for values in calls.get(name, []) if values[path] == text]
            ours = [fields_of(event).get("x") for _, event in events.get(name, [])]
            same = len(ours) == len(theirs) and all(map(is_same, ours, theirs))
            self.note("equal" if same else "wrong", f"filter of {name}: {path} == {text}: the program has {theirs}, blip {ours}")

    def run(self, choose):
        events, calls = self.trace("--function", "f[0-9]*", "--args")
        self.compare("arguments of", events, calls, "a")
        self.filters(events, calls, choose)
        events, calls = self.trace("--return", "f[0-9]*", "--capture", "r = $return")
        returning = {name: values for name, values in calls.items() if any(p[0] == "r" for p in values[0])}
        self.compare("result of", events, returning, "r")


def build(seed, directory):
    choose = random.Random(seed)
    compiler, language = choose.choice(COMPILERS)
    level = choose.choice(LEVELS)
    source = directory / f"program.{language}"
    source.write_text(program.text(choose, language == "cc", compiler.startswith("g")))
    path = source.with_suffix("")
    subprocess.run([compiler, "-g", level, *choose.choice(([], ["-mavx2"])), "-w", "-Wno-psabi", "-o", path, source], check=True)
    return choose, compiler, level, path


def is_good(counts):
    return counts["equal"] > 0 and counts["clang's"] <= MOST_OF_CLANGS * counts.total() and not any(counts[kind] for kind in ("wrong", "events", "failed", "missing"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blip", required=True)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 1000 % 10**9)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep", help="leave the programs here")
    options = parser.parse_args()
    failed, total = False, collections.Counter()
    for seed in range(options.seed, options.seed + options.rounds):
        with tempfile.TemporaryDirectory() as temporary:
            directory = pathlib.Path(options.keep) / str(seed) if options.keep else pathlib.Path(temporary)
            directory.mkdir(parents=True, exist_ok=True)
            choose, compiler, level, path = build(seed, directory)
            comparison = Comparison(options.blip, path, directory / "calls", compiler.startswith("clang"), compiler.startswith("clang") and level != "-O0")
            comparison.run(choose)
        good = is_good(comparison.counts)
        failed |= not good
        total += comparison.counts
        print(f"seed {seed} {compiler} {level}: {dict(comparison.counts)}", "" if good else "FAILED", flush=True)
        if comparison.lines:
            print("\n".join(comparison.lines))
    print(f"all: {dict(total)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
