#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows that only the processor's own folders know the processor.

Compiles every other source of src for AArch64, and runs the tests of the pure rooms there, under qemu-user. What needs
a library that Debian has not got for a foreign processor is compiled only, and named with its reason.

usage: scripts/aarch64.py [--build DIR] [--jobs N] [--no-run]
Ends with 0 if all holds; needs scripts/install-deps.sh aarch64.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = "aarch64-linux-gnu-g++-12"
EMULATOR = "qemu-aarch64"
GTEST = pathlib.Path("/usr/src/googletest")
# The folders of x86-64: what a new processor needs is written beside them, and what they share lies elsewhere.
MACHINE = ("x86/", "jit/", "runtime/")
OTHER = re.compile(r"_x86_64(_test)?\.cc$")
TEST = re.compile(r"_(test|fuzz|bench)\.cc$|(^|/)main\.cc$|_main\.cc$")
# Headers of libraries that are the same for every processor.
HEADERS = ("fmt", "tl", "Zydis", "Zycore", "asmjit", "elfutils", "dwarf.h", "libelf.h", "gelf.h", "lzma", "lzma.h",
           "babeltrace2", "libiberty")
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-DFMT_HEADER_ONLY",
         '-DBLIP_VERSION="0"', "-DBLIP_VERSION_MAJOR=0", "-DBLIP_VERSION_MINOR=0", f"-I{ROOT}/src"]
# Half of the time goes into these, so they are compiled ahead; other builds show what a source forgot to include.
COMMON = ["algorithm", "array", "cstring", "functional", "map", "memory", "optional", "span", "string", "string_view", "vector",
          "fmt/format.h", "tl/expected.hpp"]
# The areas whose tests run, with the areas that they need.
RUN = {"base": [], "machine": ["base"], "collect": ["base"], "ctf": ["base", "collect", "machine"],
       "state": ["base"], "script": ["base", "collect", "machine", "state"]}
# Tests of these areas that say something of x86-64, or that the emulator cannot run.
LEFT_OUT = {
    "CheckDeathTest.*": "the emulator adds to what a process says when it is killed",
    "HostTscClock.*": "needs the cycle counter of x86-64",
    "LongDouble.*:EventPacker.long_doubles*:Both/CapturedReadback.floats*:Both/CapturedReadback.long_doubles*":
        "long double has 80 bits on x86-64, and 128 there",
    "Operands/*:MarkOperands.are_separated_by_blanks": "operands of marks are in the assembler of x86-64",
    "Checker.registers_*:Checker.variables_*:Checker.what_returns_know:PlaceText.says_where_*:TargetNamesTest.casts_registers_*":
        "they name registers of x86-64",
}
# Tests that say something of the processor that they run on.
ONLY_COMPILED = {
    "dwarf": "libdw is not here for AArch64",
    "elf": "liblzma and libiberty are not here for AArch64, and the tests read their own x86-64 program",
    "unwind": "the tests walk their own x86-64 stack",
    "ring": "the tests read through restartable sequences of x86-64",
    "proc": "ptrace does not reach through an emulator",
    "probe": "needs the decoder and ptrace",
    "session": "needs libdw and ptrace",
    "cli": "needs libdw",
}


def sources():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/*.cc"], cwd=ROOT,
                           check=True, capture_output=True, text=True).stdout.split()
    names = sorted(n[len("src/"):] for n in set(names) if (ROOT / n).exists())
    return [n for n in names if not n.startswith(MACHINE) and not OTHER.search(n)]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def link_headers(build):
    directory = build / "headers"
    directory.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        for place in ("/usr/include", "/usr/include/x86_64-linux-gnu"):
            link = directory / name
            if os.path.exists(f"{place}/{name}") and not link.is_symlink():
                link.symlink_to(f"{place}/{name}")
    return ["-idirafter", str(directory)]


def precompile(build, name, headers, flags):
    """Flags with which a source sees `headers` in front, compiled ahead for `flags`."""
    header = build / f"{name}.h"
    header.write_text("".join(f"#include <{h}>\n" for h in headers))
    code, output = run([COMPILER, *flags, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
    if code:
        sys.exit(f"aarch64: the headers do not compile\n{output.strip()}")
    return [*flags, "-include", str(header), "-Winvalid-pch"]


def compile_all(jobs, what, pool):
    """Runs `jobs`, pairs of a name and a command; returns how many failed."""
    failed = 0
    for name, (code, output) in zip([j[0] for j in jobs], pool.map(run, [j[1] for j in jobs])):
        if code:
            failed += 1
            print(f"{name}: does not compile for AArch64\n{output.strip()}")
    print(f"aarch64: {len(jobs)} {what}, {failed} failed", flush=True)
    return failed


def build_objects(names, build, flags, pool):
    """Compiles `names`; returns their objects, or nothing if one fails."""
    jobs = []
    objects = []
    for name in names:
        object_file = build / "objects" / (str(name).strip("/").replace("/", "_") + ".o")
        object_file.parent.mkdir(parents=True, exist_ok=True)
        source = name if os.path.isabs(name) else str(ROOT / "src" / name)
        jobs.append((name, [COMPILER, *flags, "-c", source, "-o", str(object_file)]))
        objects.append(str(object_file))
    return [] if compile_all(jobs, "objects of the tests", pool) else objects


def run_tests(names, build, flags, pool):
    gtest = ["-isystem", f"{GTEST}/googletest/include", "-isystem", f"{GTEST}/googlemock/include"]
    own = [f"{GTEST}/googletest/src/gtest-all.cc", f"{GTEST}/googlemock/src/gmock-all.cc",
           f"{GTEST}/googletest/src/gtest_main.cc"]
    library = build_objects(own, build, ["-O1", "-std=c++20", *gtest, f"-I{GTEST}/googletest", f"-I{GTEST}/googlemock"], pool)
    wanted = {area for area in RUN}
    objects = dict(zip(
        chosen := [n for n in names if n.split("/")[0] in wanted and not re.search(r"_(fuzz|bench)\.cc$", n)],
        build_objects(chosen, build, precompile(build, "tests", [*COMMON, "gmock/gmock.h", "gtest/gtest.h"],
                                                ["-O1", *flags, *gtest]), pool)))
    if not library or not objects:
        return 1
    failed = 0
    for area, needs in RUN.items():
        program = build / f"{area}_test"
        parts = [o for n, o in objects.items()
                 if n.split("/")[0] == area or (n.split("/")[0] in needs and not TEST.search(n))]
        code, output = run([COMPILER, "-static", *parts, *library, "-o", str(program), "-lpthread"])
        if code == 0:
            code, output = run([EMULATOR, str(program), "--gtest_brief=1", "--gtest_filter=-" + ":".join(LEFT_OUT)])
        failed += code != 0
        print(f"aarch64: {area}_test under {EMULATOR}: {'failed' if code else 'passed'}\n{output.strip()}", flush=True)
    for tests, reason in LEFT_OUT.items():
        print(f"aarch64: {tests} left out: {reason}")
    for area, reason in ONLY_COMPILED.items():
        print(f"aarch64: {area}_test skipped: {reason}")
    print(f"aarch64: tests of {len(RUN)} areas ran, {len(ONLY_COMPILED)} skipped", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-aarch64")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-run", action="store_true", help="compile only")
    options = parser.parse_args()
    for program in (COMPILER, EMULATOR):
        if not shutil.which(program):
            sys.exit(f"aarch64: {program} is missing: scripts/install-deps.sh aarch64")
    flags = FLAGS + link_headers(options.build)
    names = sources()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        plain = [n for n in names if not TEST.search(n)]
        ahead = precompile(options.build, "sources", COMMON, flags)
        failed = compile_all([(n, [COMPILER, "-fsyntax-only", *ahead, str(ROOT / "src" / n)]) for n in plain],
                             "sources", pool)
        if not failed and not options.no_run:
            failed = run_tests(names, options.build, flags, pool)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
