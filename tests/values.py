#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the values of variables that blip finds with those that gdb shows, stop by stop (tests/values/in_gdb.py). Fails if one
differs, if blip has a value where gdb says "optimized out", or if more than 1 % of gdb's values are missing.

    tests/values.py --tool build/values_at [--only TEXT] [--quick]
    tests/values.py --tool build/values_at --real [--functions N] [--seed N]    # random functions of python3.11 and libc (needs their -dbg packages)
    tests/values.py --tool build/values_at --real --program "PATH ARGUMENTS"    # random functions of any program
    tests/values.py --tool build/values_at --real --root DIR    # DIR has python3.11 and its -dbg package, as dpkg -x leaves them
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "values"
KINDS = ("wrong", "invented", "missing", "no such part", "no function", "gdb cannot")
LEAST = 0.99
WORK = """
import hashlib, json, re
for i in range(3):
    re.sub('a+', 'b', 'caat' * 10); json.dumps({'a': [1, 2.5, None, 'x' * i]}); hashlib.md5(b'x').hexdigest(); sorted([3, 1, 2])
    '%s %d' % ('a', i); {i: i for i in range(9)}
"""
RUSTC = "/usr/bin/rustc"  # Debian's: others lie further ahead in some paths


def programs(quick):
    for source in ("sample.c", "sample.cc"):
        for family, compiler in (("gcc", "g++"), ("clang", "clang++-14")) if source.endswith("cc") else (("gcc", "gcc"), ("clang", "clang-14")):
            for level in ("-O0", "-O2") if quick else ("-O0", "-Og", "-O1", "-O2", "-O3 -flto"):
                for version in ("-gdwarf-5",) if quick else ("-gdwarf-5", "-gdwarf-4", "-gdwarf-4 -fdebug-types-section", "-gdwarf-5 -gsplit-dwarf"):
                    if "lto" in level and ("types" in version or "split" in version):
                        continue  # gdb cannot read these
                    yield source, compiler, f"{level} {version}"
    if shutil.which(RUSTC):
        for level in ("0", "2") if quick else ("0", "1", "2", "3"):
            yield "../targets/containers.rs", RUSTC, f"-Copt-level={level}"


def debug_file(path, root="/"):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
    return os.path.join(root, f"usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug")


def in_gdb(tool, program, directory, arguments=(), **settings):
    """The (counts, output) of one run. Counts are None if it failed."""
    environment = dict(os.environ, VALUES_AT=str(pathlib.Path(tool).resolve()), PROGRAM=program)
    for name, value in settings.items():
        environment.setdefault(name, value)
    roots = f"set debug-file-directory {environment.get('DEBUG_ROOT', '/usr/lib/debug')}:/usr/lib/debug"
    gdb = subprocess.run(["gdb", "-nx", "--batch", "-iex", roots, "-x", str(HERE / "in_gdb.py"), "--args", program, *arguments], capture_output=True,
                         text=True, env=environment, timeout=600, cwd=directory, input="\n\n")
    if os.environ.get("KEEP"):
        pathlib.Path(os.environ["KEEP"]).write_text(gdb.stdout + gdb.stderr)
    for line in gdb.stdout.splitlines():
        if line.startswith("SUMMARY "):
            return collections.Counter(json.loads(line[8:])), gdb.stdout
    return None, gdb.stdout + gdb.stderr


def work(directory):
    """A file, since gdb takes no lines as an argument."""
    path = pathlib.Path(directory) / "work.py"
    path.write_text(WORK)
    return str(path)


def real_programs(options):
    """Compares programs as Debian builds them (-O2, python also with -flto, types shared by dwz), or the one of --program."""
    sample = {"SEED": options.seed, "HITS": "1", "MOST_FUNCTIONS": options.functions, "MOST_STOPS": "1500", "MOST_LINES": "40"}
    if options.program:
        program, *arguments = shlex.split(options.program)
        program = os.path.realpath(program)
        yield options.program, lambda directory: in_gdb(options.tool, program, directory, arguments, **sample)
        return
    python = os.path.realpath(os.path.join(options.root, "usr/bin/python3.11"))
    libc = next(line.split()[-1] for line in open("/proc/self/maps") if "/libc.so.6" in line)
    for module, root in ((python, options.root), (libc, "/")):
        debug = debug_file(module, root)
        if not os.path.exists(debug):
            sys.exit(f"values: {debug} is missing: scripts/install-deps.sh suites")
        yield f"{module} in python3.11", lambda directory, module=module, debug=debug, root=root: in_gdb(
            options.tool, python, directory, [work(directory)], MODULE=module, DEBUG_FILE=debug, DEBUG_ROOT=os.path.join(root, "usr/lib/debug"), **sample)


def run(tool, source, compiler, flags, directory):
    program = str(pathlib.Path(directory) / "program")
    standard = {".cc": ["-std=c++20"], ".c": ["-std=gnu11"]}.get(pathlib.Path(source).suffix, [])
    command = [compiler, *standard, *flags.split(), "-g", "-o", program, str(HERE / source)]
    built = subprocess.run(command, capture_output=True, text=True, cwd=directory)
    if built.returncode != 0:
        return None, f"cannot be built: {built.stderr.splitlines()[:1]}"
    # gcc marks a structure in main as perhaps not set, in a form that libdw does not read: main is left out.
    functions = "^(texts|numbers|handle|containers)" if compiler == RUSTC else "^(?!main$)"
    misreads_lists = "clang" in compiler and "split" in flags  # gdb 13 adds the base of clang's .dwo files twice
    return in_gdb(tool, program, directory, MOST_STOPS="600", FUNCTIONS=functions, MISREADS_LISTS=str(int(misreads_lists)))


def samples(options):
    for source, compiler, flags in programs(options.quick):
        yield f"{source} {compiler} {flags}", lambda directory, all=(source, compiler, flags): run(options.tool, *all, directory)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--functions", default="400")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--program", default="")
    parser.add_argument("--root", default="/")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    failed, total = [], collections.Counter()
    for name, compare in real_programs(options) if options.real else samples(options):
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as directory:
            counts, text = compare(directory)
        if counts is None:
            print(f"{name}: {text}")
            failed.append(name)
            continue
        known = counts["equal"] + counts["wrong"] + counts["missing"]
        good = known and counts["equal"] / known >= LEAST and not counts["wrong"] and not counts["invented"]
        print(f"{name}: {dict(counts)}", "" if good else "FAILED", flush=True)
        if not good or options.v:
            print("\n".join(line for line in text.splitlines() if line.split(":")[0] in KINDS))
        if not good:
            failed.append(name)
        total += counts
    print(f"all: {dict(total)}")
    return 1 if failed or not total["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
