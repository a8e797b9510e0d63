#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the stacks of --context backtrace with those that gdb shows at the same hits (tests/stacks/in_gdb.py), frame by frame.
It fails if one differs, if blip's ends before gdb's and before its full depth, or if a tool is missing. Where gdb itself is lost
(its last frame is in no file, as behind musl's signal handlers), blip may have found more frames, all of them in files.

    tests/stacks.py --blip build/blip [--only TEXT] [--quick]
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ("gdb", "babeltrace2", "gcc", "clang-14", "musl-gcc", "/usr/bin/python3")
TIMEOUT = 90
DEPTH = 128
PYTHON = ("PyObject_RichCompare", "PyObject_Repr", "PyObject_Hash", "PyObject_GetIter", "PyList_Append", "PyDict_GetItemWithError", "PyUnicode_New")
MODULE = re.compile(r'(?:bin_info|lib:load): .*baddr = (0x[0-9A-Fa-f]+), memsz = (\d+), path = "([^"]*)"')
FRAMES = re.compile(r"backtrace = \[ (.*?) \]")
FRAME = re.compile(r"\[\d+\] = (0x[0-9A-Fa-f]+)")


class Subject:
    def __init__(self, name, command, function, hits=60):
        self.name, self.command, self.function, self.hits = name, command, function, hits


def built(name, compiler, flags, directory):
    program = directory / name.replace(" ", "_")
    argv = [compiler, *flags.split(), "-g", "-D_GNU_SOURCE", "-pthread", f"-I{HERE / 'targets'}", "-o", str(program), str(HERE / "targets" / "stacks.c")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        sys.exit(f"stacks: {name} cannot be built: {done.stderr[-500:]}")
    return Subject(name, [str(program), "2"], "leaf")


def subjects(quick, directory):
    """The functions that make the programs to compare, by name."""
    levels = ("-O0", "-O2") if quick else ("-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-omit-frame-pointer", "-O2 -fno-plt", "-O2 -no-pie", "-O2 -static")
    ways = [(compiler, level) for compiler in ("gcc", "clang-14") for level in levels] + [("musl-gcc", "-O2")]
    ways += [] if quick else [("musl-gcc", "-O0")]  # not -static: gdb guesses there, by the prologues of code without CFI
    for compiler, level in ways:
        name = f"{compiler} {level}"
        yield name, lambda name=name, compiler=compiler, level=level: built(name, compiler, level, directory)
    script = "def f(n):\n  return repr([n]) if n == 0 else f(n - 1)\nfor i in range(9): f(i)\nsorted([3, 1, 2], key=lambda n: repr(-n))"
    python = [os.path.realpath("/usr/bin/python3"), "-S", "-c", script]
    for function in PYTHON[:1] if quick else PYTHON:
        name = f"python3 {function}"
        yield name, lambda name=name, function=function: Subject(name, python, function, 40 if quick else 200)


def by_gdb(subject, directory):
    out = directory / "gdb.json"
    out.unlink(missing_ok=True)
    environment = dict(os.environ, FUNCTION=subject.function, HITS=str(subject.hits), OUT=str(out), PYTHONHASHSEED="0")
    with open(directory / "input") as stdin:
        done = subprocess.run(["gdb", "-q", "-batch", "-nx", "-x", str(HERE / "stacks" / "in_gdb.py"), "--args", *subject.command], stdin=stdin,
                              capture_output=True, text=True, timeout=TIMEOUT, env=environment)
    if not out.exists():
        raise RuntimeError(f"gdb: {(done.stderr or done.stdout)[-300:]}")
    return json.loads(out.read_text())


def by_blip(blip, subject, directory):
    trace = directory / "trace"
    shutil.rmtree(trace, ignore_errors=True)
    environment = dict(os.environ, PYTHONHASHSEED="0")
    with open(directory / "input") as stdin:
        done = subprocess.run([blip, "record", "--function", subject.function, "--no-inline", "--context", "backtrace", "--max-events",
                               str(subject.hits), "-o", str(trace), "--", *subject.command], stdin=stdin, capture_output=True, text=True, timeout=TIMEOUT, env=environment)
    if not trace.exists():
        raise RuntimeError(f"blip: {done.stderr[-300:]}")
    text = subprocess.run(["babeltrace2", str(trace)], capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout
    modules = [(int(base, 16), int(size), os.path.basename(path)) for base, size, path in MODULE.findall(text)]
    return [[place(int(frame, 16), modules) for frame in FRAME.findall(frames)] for frames in FRAMES.findall(text)]


def place(address, modules):
    for base, size, name in modules:
        if base <= address < base + size:
            return f"{name}+{address - base:#x}"
    return f"{address:#x}"


def is_in_file(frame):
    return "+0x" in frame


def same(ours, theirs):
    if theirs and not is_in_file(theirs[-1]):  # gdb is lost
        while theirs and not is_in_file(theirs[-1]):
            theirs = theirs[:-1]
        return len(theirs) > 0 and ours[:len(theirs)] == theirs and all(map(is_in_file, ours))
    return ours == theirs or (len(ours) == DEPTH and ours == theirs[:DEPTH])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blip", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        sys.exit(f"stacks: {', '.join(missing)} not found: scripts/install-deps.sh test")
    all_hits = agreed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "input").write_text("\n")
        for name, make in subjects(options.quick, directory):
            if options.only not in name:
                continue
            subject = make()
            theirs, ours = by_gdb(subject, directory), by_blip(options.blip, subject, directory)
            good = sum(same(a, b) for a, b in zip(ours, theirs))
            hits = max(len(ours), len(theirs))
            print(f"{subject.name:32} {good} of {hits} stacks are gdb's", flush=True)
            all_hits, agreed, failed = all_hits + hits, agreed + good, failed + (good != hits or hits == 0)
            for a, b in [(a, b) for a, b in zip(ours, theirs) if not same(a, b)][:1]:
                for i in range(max(len(a), len(b))):
                    print(f"    {'' if a[i:i + 1] == b[i:i + 1] else '!':2}{(a + ['-'] * len(b))[i]:40}{(b + ['-'] * len(a))[i]}")
    print(f"{agreed} of {all_hits} stacks are as gdb shows them")
    return 1 if failed or all_hits == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
