#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the variables that blip shows at the last instructions of functions, each `ret` and what is right before it, with those
that random programs write down themselves. A frame that is gone may be shown as such, but not with other values.

    tests/dead_frames.py --blip build/blip [--seed N] [--rounds N] [--keep DIR]

A round fails if a value differs or if an event is missing.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

COMPILERS = ("gcc", "clang-14")
LEVELS = ("-O0", "-O0", "-O0 -fomit-frame-pointer", "-O0 -mno-red-zone", "-O0 -fstack-protector-all", "-Og", "-O1", "-O2", "-O1 -fno-omit-frame-pointer", "-O2 -fno-omit-frame-pointer", "-Os", "-O3")
TYPES = ("int", "long", "short", "double", "unsigned char")
BEFORE = 2  # instructions before each ret
HEAD = """#include <stdio.h>
static unsigned long state = %dul;
static unsigned long any(void) { state = state * 6364136223846793005ul + 1442695040888963407ul; return state >> 40; }
struct told { int function, count; double values[64]; } told[4000];
int calls;
static double sum;
"""


class Program:
    def __init__(self, choose):
        self.choose, self.names = choose, {}

    def function(self, number):
        """A leaf, which may keep all in the red zone, or one with a frame. It writes down what its variables are at its end."""
        choose = self.choose
        parameters = [(f"a{i}", choose.choice(TYPES)) for i in range(choose.choice((0, 1, 2, 5, 8)))]
        scalars = [(f"l{i}", choose.choice(TYPES)) for i in range(choose.choice((1, 2, 4, 12)))]
        arrays = [(f"v{i}", choose.choice(TYPES), choose.choice((2, 5, 40))) for i in range(choose.choice((0, 0, 1, 2)))]
        lines = [f"{kind} {name} = ({kind})(any() + 1);" for name, kind in scalars]
        aligned = choose.choice(("", "", "", " __attribute__((aligned(32)))"))
        lines += [f"{kind} {name}[{count}]{aligned}; for (int i = 0; i < {count}; ++i) {name}[i] = ({kind})(i * 3 + {number});" for name, kind, count in arrays]
        if choose.random() < 0.5:
            lines.append('printf("%d\\n", calls);')
        if choose.random() < 0.4 and parameters:
            name, kind = choose.choice(parameters)
            lines.append(f"{name} = ({kind})({name} + 3);")
        whole = [name for name, _ in parameters + scalars] + [f"{name}[{i}]" for name, _, count in arrays for i in range(min(count, 5))]
        self.names[number] = whole
        lines.append(f"struct told *t = &told[calls++]; t->function = {number}; t->count = {len(whole)};")
        lines += [f"t->values[{i}] = (double){name};" for i, name in enumerate(whole)]
        if arrays:
            lines.append(f'__asm__ volatile("" : : "r"({arrays[0][0]}) : "memory");')
        result = choose.choice(("void", "int", "double"))
        lines.append({"void": "", "int": "return (int)sum;", "double": "return sum;"}[result])
        listed = ", ".join(f"{kind} {name}" for name, kind in parameters) or "void"
        values = ", ".join(f"({kind})any()" for _, kind in parameters)
        return f"__attribute__((noinline)) {result} f{number}({listed}) {{\n  " + "\n  ".join(lines) + "\n}\n", f"f{number}({values});"

    def text(self, count):
        functions, calls = zip(*(self.function(i) for i in range(count)))
        return (HEAD % self.choose.getrandbits(60) + "".join(functions) + "int main(int n, char **words) {\n(void)n; for (int i = 0; i < 3; ++i) {\n" +
                "\n".join(calls) + '}\nFILE *out = fopen(words[1], "w");\nfor (int i = 0; i < calls; ++i) { fprintf(out, "%d", told[i].function);\n'
                'for (int k = 0; k < told[i].count; ++k) fprintf(out, " %.17g", told[i].values[k]);\nfprintf(out, "\\n"); }\nreturn fclose(out);\n}\n')


def last_instructions(path):
    """Per function the addresses of each ret and of what is right before it."""
    found, name, before = collections.defaultdict(list), "", []
    for line in subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout.splitlines():
        if head := re.match(r"[0-9a-f]+ <(f\d+)>:", line):
            name, before = head.group(1), []
        elif not line.strip():
            name = ""
        elif name and (code := re.match(r"\s+([0-9a-f]+):\s+(\S+)", line)):
            before.append(int(code.group(1), 16))
            if code.group(2) in ("ret", "repz"):
                found[name] += before[-BEFORE - 1:]
                before = []
    return found


class Comparison:
    def __init__(self):
        self.counts, self.lines = collections.Counter(), []

    def note(self, kind, text):
        self.counts[kind] += 1
        if kind in ("wrong", "events", "failed"):
            self.lines.append(f"  {kind}: {text}")

    def event(self, event, names, values):
        fields = {**event.get("args", {}), **event.get("locals", {})}
        for name, theirs in zip(names, values):
            first, _, index = name.rstrip("]").partition("[")
            mine = fields.get(first)
            if index and isinstance(mine, str):
                mine = None  # a text
            elif index and isinstance(mine, dict):
                mine = mine.get(f"[{index}]")  # in registers
            elif index and mine is not None:
                mine = mine[int(index)] if int(index) < len(mine) else None
            if isinstance(mine, str):
                mine = ord(mine)
            kind = "unknown" if mine is None else "equal" if mine == theirs else "wrong"
            self.note(kind, f"{event['name']}: {name}: the program has {theirs}, blip {mine}")

    def run(self, blip, program, calls, names):
        for number in names:
            places = last_instructions(program)[f"f{number}"]
            words = [word for place in places for word in ("--probe", f"program+{place:#x}")]
            done = subprocess.run([blip, "trace", "-q", "--json", "--args", "--locals", *words, "--", str(program), str(calls)],
                                  capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                self.note("refused" if "nothing is known" in done.stderr else "failed", f"f{number}: {done.stderr.strip()[:400]}")
                continue
            events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            told = [list(map(float, line.split()[1:])) for line in calls.read_text().splitlines() if line.split()[0] == str(number)]
            by_place = collections.defaultdict(list)
            for event in events:
                by_place[event["name"]].append(event)
            if not by_place:
                self.note("events", f"f{number}: none")
            for place, ours in by_place.items():
                if len(ours) != len(told):
                    self.note("events", f"{place}: {len(ours)} of {len(told)}")
                for event, values in zip(ours, told):
                    self.event(event, names[number], values)


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
            directory = (pathlib.Path(options.keep) / str(seed) if options.keep else pathlib.Path(temporary)).resolve()
            directory.mkdir(parents=True, exist_ok=True)
            choose = random.Random(seed)
            compiler, level = choose.choice(COMPILERS), choose.choice(LEVELS)
            made = Program(choose)
            source = directory / "program.c"
            source.write_text(made.text(8))
            subprocess.run([compiler, "-g", *level.split(), "-w", "-o", directory / "program", source], check=True)
            comparison = Comparison()
            comparison.run(options.blip, directory / "program", directory / "calls", made.names)
        counts = comparison.counts
        good = counts["equal"] > 0 and not any(counts[kind] for kind in ("wrong", "events", "failed"))
        failed |= not good
        total += counts
        print(f"seed {seed} {compiler} {level}: {dict(counts)}", "" if good else "FAILED", flush=True)
        print("\n".join(comparison.lines[:30]), end="\n" if comparison.lines else "")
    print(f"all: {dict(total)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
