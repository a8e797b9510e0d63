#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the arguments that blip shows of functions inside functions, lambdas and methods of local classes, with what random programs
say themselves. What a lambda has captured is right or unknown.

    tests/nested.py --blip build/blip [--seed N] [--rounds N] [--keep DIR]

A round fails if a value differs, if an event is missing, or if an argument is unknown.
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

COMPILERS = ("g++", "clang++-14")
LEVELS = ("-O0", "-Og", "-O1", "-O2")
TYPES = {"int": "int", "long": "long", "short": "int", "unsigned char": "int", "double": "double", "pair": None, "ptr": "unsigned long", "ref": "int"}
HEAD = """#include <cstdio>
static FILE *out;
static unsigned long state = %dul;
static unsigned long any() { state = state * 6364136223846793005ul + 1442695040888963407ul; return state >> 40; }
struct pair { long first; int second; };
static int things[4];
typedef int *ptr;
typedef int &ref;
static void say(const char *name, int value) { fprintf(out, "%%s %%d\\n", name, value); }
static void say(const char *name, long value) { fprintf(out, "%%s %%ld\\n", name, value); }
static void say(const char *name, short value) { say(name, int{value}); }
static void say(const char *name, unsigned char value) { say(name, int{value}); }
static void say(const char *name, double value) { fprintf(out, "%%s %%.17g\\n", name, value); }
static void say(const char *name, ptr value) { fprintf(out, "%%s %%lu\\n", name, reinterpret_cast<unsigned long>(value)); }
static void say(const char *name, pair value) { fprintf(out, "%%s.first %%ld\\n%%s.second %%d\\n", name, value.first, name, value.second); }
static volatile int numbers[] = {%s};
static volatile int sink;
#define KEPT __attribute__((noinline%s))
"""
VALUES = {"int": "static_cast<int>(any()) - 5000", "long": "static_cast<long>(any()) - 70000", "short": "static_cast<short>(any())",
          "unsigned char": "static_cast<unsigned char>(any())", "double": "static_cast<double>(any()) / 8",
          "pair": "pair{static_cast<long>(any()), -static_cast<int>(any())}", "ptr": "&things[any() % 4]", "ref": "things[any() % 4]"}


class Program:
    def __init__(self, choose, is_gcc):
        self.choose, self.is_gcc, self.count = choose, is_gcc, 0

    def parameters(self):
        kinds = [self.choose.choice(list(TYPES)) for _ in range(self.choose.choice((0, 1, 2, 3, 4)))]
        return [(f"a{i}", kind) for i, kind in enumerate(kinds)]

    def say(self, number, parameters, captured=()):
        lines = [f'fprintf(out, "call {number}\\n");']
        lines += [f'say("{name}", {name});' for name, _ in parameters]
        return lines + [f'say("c.{name}", {name});' for name in captured]

    def one(self, depth, names):
        """Lines that define and call a function within another. names: of variables that it may capture."""
        number = self.count
        self.count += 1
        parameters = self.parameters()
        listed = ", ".join(["int id", *(f"{kind} {name}" for name, kind in parameters)])
        passed = ", ".join([f"numbers[{number}]", *(VALUES[kind] for _, kind in parameters)])
        style = self.choose.choice(("lambda", "lambda", "generic", "method", "static", "operator"))
        local = f"k{number}"
        inner = [f"int {local} = static_cast<int>(any());"] if self.choose.random() < 0.7 else []
        known = [local] if inner else []
        if style in ("lambda", "generic"):
            capture = self.choose.choice(("", "=", "&"))
            captured = self.choose.sample(names, min(len(names), self.choose.choice((0, 1, 2)))) if capture else []
            body = self.say(number, parameters, captured) + ["sink = id;"] + inner + self.more(depth, known)
            extra = ", auto z" if style == "generic" else ""
            return [f"auto f{number} = [{capture}]({listed}{extra}) KEPT {{", *body, "};", f"f{number}({passed}{', 5L' if extra else ''});"]
        body = self.say(number, parameters) + ["sink = id;"] + inner + self.more(depth, known)
        name = "operator()" if style == "operator" else f"work{number}"
        head = ("static " if style == "static" else "") + f"KEPT void {name}({listed})" + (" const" if style == "operator" else "") + " {"
        return [f"struct Local{number} {{ int member = 3;", head, *body, "}", "};",
                f"Local{number} object{number};", f"object{number}.{name}({passed});"]

    def more(self, depth, names):
        lines = []
        for _ in range(self.choose.choice((0, 1, 2)) if depth else 0):
            inner = self.one(depth - 1, names)
            lines += ["for (int i = 0; i < 2; ++i) {", *inner, "}"] if self.choose.random() < 0.3 else ["{", *inner, "}"]
        return lines

    def text(self):
        functions, calls = [], []
        for i in range(8):
            number = self.count
            self.count += 1
            parameters = self.parameters()
            listed = ", ".join(["int id", *(f"{kind} {name}" for name, kind in parameters)])
            head = self.choose.choice(("KEPT", "static KEPT", "template <typename T> KEPT"))
            body = [*self.say(number, parameters), "sink = id;", f"int k{number} = static_cast<int>(any());"]
            for _ in range(self.choose.choice((1, 2, 3))):
                body += ["{", *self.one(2, [f"k{number}"]), "}"]
            where = self.choose.choice(("", "", "namespace ns { ", "namespace { "))
            functions.append(f"{where}{head} void outer{i}({listed}) {{\n" + "\n".join(body) + "\n}" + (" }" if where else "") + "\n")
            name = ("ns::" if "ns" in where else "") + f"outer{i}" + ("<int>" if "template" in head else "")
            calls.append(f"{name}({', '.join([f'numbers[{number}]', *(VALUES[kind] for _, kind in parameters)])});")
        head = HEAD % (self.choose.getrandbits(60), ", ".join(map(str, range(self.count))), ", noipa" if self.is_gcc else "")
        return head + "".join(functions) + 'int main(int, char **words) {\nout = fopen(words[1], "w");\n' + "\n".join(calls) + "\nreturn fclose(out);\n}\n"


def told(path):
    calls = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        name, value = line.split(" ", 1)
        if name == "call":
            calls[int(value)].append({})
            last = calls[int(value)][-1]
        else:
            last[name] = float(value) if "." in value or "e" in value else int(value)
    return calls


def as_number(value):
    if isinstance(value, str):
        return int(value, 16) if value.startswith("0x") else ord(value)
    return value


def trace(blip, program, calls):
    command = [blip, "trace", "-q", "--json", "--function", f"{program.name}:*", "--args", "--locals", "--", str(program), str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    events = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        event = json.loads(line)
        if (number := event.get("args", {}).get("id")) is not None:
            events[number].append(event)
    return events, done.returncode, done.stderr


class Comparison:
    def __init__(self):
        self.counts, self.lines = collections.Counter(), []

    def note(self, kind, text):
        self.counts[kind] += 1
        if kind not in ("equal", "captured", "captured, unknown"):
            self.lines.append(f"  {kind}: {text}")

    def value(self, event, name, theirs):
        fields = {**event.get("locals", {}), **event.get("args", {})}
        first, _, member = name.removeprefix("c.").partition(".")
        mine = fields.get(first)
        mine = as_number(mine.get(member) if member and isinstance(mine, dict) else mine)
        is_captured = name.startswith("c.")
        text = f"{event['name']}: {name}: the program has {theirs}, blip {mine} {event.get('missing', '')}"
        if mine is None:
            self.note("captured, unknown" if is_captured else "unknown", text)
        else:
            self.note(("captured" if is_captured else "equal") if mine == theirs else "wrong", text)

    def run(self, blip, program, calls):
        events, code, errors = trace(blip, program, calls)
        if code != 0:
            self.note("failed", errors.strip()[:500])
        for number, all_values in told(calls).items():
            ours = events[number]
            if len(ours) != len(all_values):
                self.note("events", f"number {number}: {len(ours)} of {len(all_values)}")
                continue
            for event, values in zip(ours, all_values):
                for name, theirs in values.items():
                    self.value(event, name, theirs)


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
            source = directory / "program.cc"
            source.write_text(Program(choose, compiler == "g++").text())
            subprocess.run([compiler, "-g", level, "-w", "-std=c++20", "-o", directory / "program", source], check=True)
            comparison = Comparison()
            comparison.run(options.blip, directory / "program", directory / "calls")
        counts = comparison.counts
        good = counts["equal"] > 0 and not any(counts[kind] for kind in ("wrong", "events", "failed", "unknown"))
        failed |= not good
        total += counts
        print(f"seed {seed} {compiler} {level}: {dict(counts)}", "" if good else "FAILED", flush=True)
        print("\n".join(comparison.lines[:30]), end="\n" if comparison.lines else "")
    print(f"all: {dict(total)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
