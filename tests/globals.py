#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the global variables that blip shows with what random programs of several modules and files see themselves: copies that the
linker makes, definitions that hide each other, statics of one name, protected and hidden symbols.

    tests/globals.py --blip build/blip [--seed N] [--rounds N] [--keep DIR]

A round fails if a value differs, if an event is missing, or if blip does not know what the file itself declares.
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

LIBRARIES = ("liba", "libb", "libc3")
COMPILERS = ("gcc", "clang-14")
LEVELS = ("-O0", "-O1", "-O2")
TYPES = {"int": "%d", "long": "%ld", "short": "%d", "unsigned char": "%d", "unsigned": "%u"}
NAMES = tuple(f"v{i}" for i in range(10))
CALLS = 3


class Modules:
    """Which file of which module defines which variable, and who looks at it. A file is (module, "one" or "two")."""

    def __init__(self, choose):
        self.choose = choose
        self.files = [(module, part) for module in ("main", *LIBRARIES) for part in ("one", "two")]
        self.types = {name: choose.choice(list(TYPES)) for name in NAMES}
        self.definitions = {file: {} for file in self.files}  # name to its storage
        self.compilers = {}  # of each module
        self.looks = {file: set() for file in self.files}
        for name in NAMES:
            self.define(name)

    def define(self, name):
        choose = self.choose
        external = choose.sample(("main", *LIBRARIES), choose.choice((1, 1, 1, 2, 2, 3)))
        for module in external:
            storage = choose.choice(("", "", "", "__attribute__((weak)) "))
            if module != "main" and len(external) == 1 and choose.random() < 0.15:
                storage = '__attribute__((visibility("hidden"))) '
            self.definitions[module, choose.choice(("one", "two"))][name] = storage
        hidden = any("hidden" in d.get(name, "") for d in self.definitions.values())
        for file in self.files:
            mine = self.definitions[file]
            if name not in mine and choose.random() < 0.2:
                mine[name] = "static "
            sees = not hidden or any("hidden" in self.definitions[file[0], part].get(name, "") for part in ("one", "two"))
            if name in mine and choose.random() < 0.8 or sees and choose.random() < 0.5:
                self.looks[file].add(name)

    def text(self, file):
        lines = ["#include <stdio.h>", "extern FILE *out_file(void);"]
        for name in NAMES:
            kind, mine = self.types[name], self.definitions[file]
            if name in mine:
                lines.append(f"{mine[name]}{kind} {name} = {self.choose.randint(1, 100)};")
            elif name in self.looks[file]:
                hidden = any("hidden" in self.definitions[file[0], part].get(name, "") for part in ("one", "two"))
                lines.append(("__attribute__((visibility(\"hidden\"))) " if hidden else "") + f"extern {kind} {name};")
        who = "_".join(file)
        lines.append(f"__attribute__((noinline)) void seen_{who}(void) {{ __asm__ volatile(\"\" : : : \"memory\"); }}")
        lines.append(f"void look_{who}(void) {{\n  fprintf(out_file(), \"call seen_{who}\\n\");")
        for name in sorted(self.looks[file]):
            lines.append(f'  {name} += {self.choose.randint(1, 20)};\n  fprintf(out_file(), "{name} {TYPES[self.types[name]]}\\n", {name});')
        lines.append(f"  seen_{who}();\n}}")
        if file == ("main", "one"):
            looks = ["_".join(f) for f in self.files]
            lines += [f"void look_{w}(void);" for w in looks if w != who]
            calls = " ".join(f"look_{w}();" for w in looks)
            lines.append("static FILE *out;\nFILE *out_file(void) { return out; }")
            lines.append(f'int main(int n, char **words) {{ (void)n; out = fopen(words[1], "w"); '
                         f"for (int i = 0; i < {CALLS}; ++i) {{ {calls} }} return fclose(out); }}")
        return "\n".join(lines) + "\n"

    def is_told(self, file, name):
        """Whether the module's debugging information has the variable: clang's does not tell what it only declares."""
        defined = [self.definitions[file[0], part].get(name) for part in ("one", "two")]
        return name in self.definitions[file] or any(d is not None and d != "static " for d in defined) or self.compilers[file[0]] == "gcc"

    def build(self, directory):
        """Builds all, and says how."""
        choose, how = self.choose, []
        for file in self.files:
            (directory / f"{'_'.join(file)}.c").write_text(self.text(file))
        for library in LIBRARIES:
            self.compilers[library] = choose.choice(COMPILERS)
            flags = [self.compilers[library], choose.choice(LEVELS), *choose.choice(([], [], ["-Wl,-Bsymbolic"], ["-Wl,-z,now"]))]
            subprocess.run([*flags, "-g", "-w", "-shared", "-fPIC", "-o", directory / f"{library}.so",
                            *(directory / f"{library}_{part}.c" for part in ("one", "two"))], check=True)
            how.append(f"{library}: {' '.join(flags)}")
        self.compilers["main"] = choose.choice(COMPILERS)
        flags = [self.compilers["main"], choose.choice(LEVELS), *choose.choice((["-fPIE", "-pie"], ["-fPIC", "-pie"], ["-fno-pie", "-no-pie"]))]
        subprocess.run([*flags, "-g", "-w", "-o", directory / "main", directory / "main_one.c", directory / "main_two.c",
                        f"-Wl,-rpath,{directory}", "-Wl,--no-as-needed", *(directory / f"{library}.so" for library in LIBRARIES)], check=True)
        return "; ".join([f"main: {' '.join(flags)}", *how])


class Comparison:
    def __init__(self, blip, directory, modules):
        self.blip, self.directory, self.modules = blip, directory, modules
        self.counts, self.lines = collections.Counter(), []

    def note(self, kind, text):
        self.counts[kind] += 1
        if kind != "equal":
            self.lines.append(f"  {kind}: {text}")

    def function(self, file):
        module = "main" if file[0] == "main" else f"{file[0]}.so"
        return f"{module}:seen_{'_'.join(file)}"

    def told(self):
        calls = collections.defaultdict(list)
        for line in (self.directory / "calls").read_text().splitlines():
            name, value = line.split(" ", 1)
            if name == "call":
                calls[value].append({})
                last = calls[value][-1]
            else:
                last[name] = int(value)
        return calls

    def run(self):
        words, captured = [], {}
        for file, names in self.modules.looks.items():
            captured[file] = sorted(name for name in names if self.modules.is_told(file, name))
            if captured[file]:
                words += ["--function", self.function(file), "--capture", ", ".join(captured[file])]
        command = [self.blip, "trace", "-q", "--json", *words, "--", str(self.directory / "main"), str(self.directory / "calls")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            self.note("failed", f"{' '.join(command)}\n{done.stderr.strip()[:600]}")
            return
        events = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            event = json.loads(line)
            events[event["name"]].append(event)
        for who, calls in self.told().items():
            if not captured[tuple(who.split("_")[1:])]:
                continue
            ours = events.get(who, [])
            if len(ours) != len(calls):
                self.note("events", f"{who}: {len(ours)} of {len(calls)}")
                continue
            for event, values in zip(ours, calls):
                for name, theirs in values.items():
                    if name not in event["captures"]:
                        self.counts["not declared"] += 1
                        continue
                    mine = event["captures"][name]
                    mine = ord(mine) if isinstance(mine, str) and len(mine) == 1 else mine
                    kind = "equal" if mine == theirs else "unknown" if mine is None else "wrong"
                    self.note(kind, f"{who}: {name}: the program has {theirs}, blip {mine} {event.get('missing', '')}")


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
            modules = Modules(random.Random(seed))
            how = modules.build(directory)
            comparison = Comparison(options.blip, directory, modules)
            comparison.run()
        counts = comparison.counts
        good = counts["equal"] > 0 and set(counts) <= {"equal", "not declared"}
        failed |= not good
        total += counts
        print(f"seed {seed} {how}: {dict(counts)}", "" if good else "FAILED", flush=True)
        print("\n".join(comparison.lines[:30]), end="\n" if comparison.lines else "")
    print(f"all: {dict(total)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
