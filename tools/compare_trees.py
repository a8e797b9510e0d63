#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds two trees in directories of their own and compares them side by side on this machine.

    tools/compare_trees.py b9661ca HEAD                      everything; wants a quiet machine for build and timing
    tools/compare_trees.py b9661ca HEAD --parts size pads    what a busy machine does not disturb
    tools/compare_trees.py b9661ca HEAD --parts tests        the .t files of the first tree with the binary of the second
    tools/compare_trees.py b9661ca HEAD --parts timing       rows of `make bench`, A and B in turn

size     bytes of the program, as built and stripped
build    CPU seconds to build the program from nothing, on two cores without ccache; blip is built so again for it
pads     instructions per hit of the six fixed commands (tools/pad_instructions.py)
tests    .t files of tree A with the binary of tree B; what fails is run again alone; EXPECTED says what may fail, and why
timing   ratios B / A of rows of bench/run.py, from medians of --rounds interleaved runs; least numbers of rows in ns, and
         medians of those in ms

The exit code is 1 if a number is beyond its limit, or if a test fails that EXPECTED does not name. Trees lie in --directory
and are used again. The files of both trees are those of their commits: what is not committed does not count.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORES = 2

# ---- limits of the issue, as ratios B / A; and the rows that they are about ----

MOST_SIZE = MOST_BUILD = 1.03
MOST_NS, MOST_MS = 1.02, 1.05
ROWS = ["event.blip", "attach"]  # counting is among the events; a row of attach has its detach too
MS_COLUMNS = {"T": None, "P": "pause", "detach": "detach", "its P": "detach_pause"}  # None: the median of the row

# Files of cases of b9661ca that may fail with a later binary: what changed on purpose. One line of reason each.
EXPECTED = {
    "friendly": "the package no longer depends on libbabeltrace2-0 by its binary: it is loaded by what reads traces",
    "inlined": "`blip list` counts inlined copies apart from functions: '1 functions and 2 inlined copies'",
}


def run(command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


class Tree:
    def __init__(self, revision, directory, letter):
        self.commit = subprocess.run(["git", "rev-parse", "--short=12", revision + "^{commit}"], cwd=ROOT, check=True,
                                     capture_output=True, text=True).stdout.strip()
        self.letter = letter
        self.source = directory / self.commit
        self.build = self.source / "build"
        self.blip = self.build / "blip"

    def check_out(self):
        if (self.source / "CMakeLists.txt").exists():
            return
        self.source.mkdir(parents=True)
        archive = subprocess.Popen(["git", "archive", self.commit], cwd=ROOT, stdout=subprocess.PIPE)
        run(["tar", "-x", "-C", self.source], stdin=archive.stdout)
        if archive.wait() != 0:
            sys.exit(f"git archive {self.commit} failed")

    def make(self, *targets, build=None, settings=()):
        build = build or self.build
        run(["cmake", "-S", self.source, "-B", build, "-G", "Ninja", "-DBLIP_TESTS=ON", *settings], stdout=subprocess.DEVNULL)
        run(["cmake", "--build", build, "-j", CORES, "--target", *targets], stdout=subprocess.DEVNULL)


class Report:
    """Prints rows and remembers whether a limit was passed."""

    def __init__(self):
        self.failed = False

    def row(self, name, a, b, limit=None, form="{:.0f}", ratio=True):
        beyond = limit is not None and (b / a > limit if ratio else abs(b - a) > limit)
        self.failed |= beyond
        change = f"{b / a:9.4f}" if ratio else f"{b - a:+9}"
        print(f"{name:52}{form.format(a):>12}{form.format(b):>12}{change}{'  BEYOND ' + str(limit) if beyond else ''}", flush=True)

    def heading(self, text):
        print(f"\n{text:52}{'A':>12}{'B':>12}{'B / A':>9}", flush=True)


# ---- size and build ----

def stripped_size(program, place):
    copy = place / "stripped"
    shutil.copy(program, copy)
    run(["strip", "-s", copy])
    size = copy.stat().st_size
    copy.unlink()
    return size


def compare_size(a, b, report, options):
    for tree in (a, b):
        tree.make("blip")
    report.heading("size of the program, bytes")
    report.row("stripped", *(stripped_size(tree.blip, tree.source) for tree in (a, b)), MOST_SIZE)
    report.row("as built", *(tree.blip.stat().st_size for tree in (a, b)))


def cpu_of_build(tree):
    """CPU seconds; without ccache, as users and packagers build it."""
    fresh = tree.source / "build-fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tree.make("blip", build=fresh, settings=["-DCCACHE=", "-DBLIP_TESTS=OFF"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(fresh)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare_build(a, b, report, options):
    report.heading("build of the program, CPU seconds")
    report.row("from nothing", cpu_of_build(a), cpu_of_build(b), MOST_BUILD)


# ---- pads ----

def compare_pads(a, b, report, options):
    b.make("blip", "targets/loop_calls")
    a.make("blip")
    target = b.build / "targets/loop_calls"
    done = subprocess.run([ROOT / "tools/pad_instructions.py", "--target", target, "--blip", b.blip, "--before", a.blip],
                          capture_output=True, text=True)
    print("\ninstructions per hit\n" + done.stdout + done.stderr, end="", flush=True)
    report.failed |= done.returncode != 0


# ---- tests ----

def case_fails(tree, blip, name, seconds):
    """What it printed, or nothing if it passed."""
    command = [tree.source / "tests/run.py", "--blip", blip, "--targets", tree.build / "targets", tree.source / f"tests/run/{name}.t"]
    try:
        done = subprocess.run([str(word) for word in command], cwd=tree.build, capture_output=True, text=True, errors="replace",
                              timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"not done after {seconds} s"
    return done.stdout + done.stderr if done.returncode != 0 else ""


def is_same(a, b, name):
    return (b.source / name).exists() and (a.source / name).read_bytes() == (b.source / name).read_bytes()


def compare_tests(a, b, report, options):
    b.make("blip")
    a.make("e2e_targets")
    # Some cases take the program from the directory above the targets: there must be only the later one.
    if not a.blip.is_symlink():
        if a.blip.exists():
            a.blip.rename(a.build / "blip-of-a")
        a.blip.symlink_to(b.blip)
    try:
        names = sorted(p.stem for p in (a.source / "tests/run").glob("*.t"))
        names = [n for n in names if not options.only or any(text in n for text in options.only)]
        if options.changed:
            names = [n for n in names if not is_same(a, b, f"tests/run/{n}.t")]
        failed = [n for n in names if case_fails(a, b.blip, n, 600)]
        still = {n: text for n in failed if (text := case_fails(a, b.blip, n, 600))}
    finally:
        a.blip.unlink()
        if (a.build / "blip-of-a").exists():
            (a.build / "blip-of-a").rename(a.blip)
    print(f"\n.t files of A with the binary of B: {len(names)}, of which {len(still)} fail")
    print("passed only when they were run again:", ", ".join(n for n in failed if n not in still) or "none")
    for name, text in still.items():
        reason = EXPECTED.get(name)
        report.failed |= reason is None
        print(f"{name}.t fails: {reason or 'NOT EXPECTED'}")
        if reason is None:
            print("  " + "\n  ".join(text.strip().splitlines()[-20:]))


# ---- timing ----

def bench(b, tree, place, number):
    """Rows of one run, by id: all are measured by the harness of tree B."""
    out = place / f"bench_{tree.letter}{number}.json"
    run([b.source / "bench/run.py", "--build", tree.build, "--json", out, "--only", *ROWS], stdout=subprocess.DEVNULL)
    return {row["id"]: row for row in json.loads(out.read_text())["rows"]}


def numbers_of(row):
    """(name, unit, value) of what is compared."""
    if row["unit"] == "ns" and row["id"].startswith("event.blip") and row["min"] is not None:
        yield row["name"], "ns", row["min"]
    if row["unit"] == "ms" and row["median"] is not None:
        for title, column in MS_COLUMNS.items():
            value = row["median"] if column is None else row["columns"].get(column)
            if value:
                yield f"{row['name']}: {title}", "ms", value


def compare_timing(a, b, report, options):
    for tree in (a, b):
        tree.make("blip", "bench_programs")
    samples = {}
    for number in range(options.rounds):
        for tree in (a, b):
            for row in bench(b, tree, options.directory, number).values():
                if row["problem"]:
                    print(f"{tree.letter}{number}: {row['name']}: {row['problem']}", flush=True)
                    continue
                for name, unit, value in numbers_of(row):
                    samples.setdefault((unit, name), {"A": [], "B": []})[tree.letter].append(value)
    for unit, limit in (("ns", MOST_NS), ("ms", MOST_MS)):
        report.heading(f"rows of make bench, {unit}; medians of {options.rounds} runs of each, in turn")
        for (u, name), values in sorted(samples.items()):
            if u == unit and values["A"] and values["B"]:
                report.row(name, *(statistics.median(values[letter]) for letter in "AB"), limit, "{:.2f}")


PARTS = {"size": compare_size, "build": compare_build, "pads": compare_pads, "tests": compare_tests, "timing": compare_timing}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="revision of tree A")
    parser.add_argument("after", help="revision of tree B")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--directory", type=pathlib.Path, default=ROOT / "build" / "compare_trees")
    parser.add_argument("--rounds", type=int, default=5, help="of timing")
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="tests whose name contains it")
    parser.add_argument("--changed", action="store_true", help="only .t files that differ; `make test` of B runs the others")
    options = parser.parse_args()
    options.directory = options.directory.resolve()
    a, b = Tree(options.before, options.directory, "A"), Tree(options.after, options.directory, "B")
    load = os.getloadavg()[0]
    print(f"A is {a.commit}, B is {b.commit}; {os.cpu_count()} processors, load {load:.1f}")
    if load > 0.5 * os.cpu_count() and {"build", "timing"} & set(options.parts):
        print("THE MACHINE IS BUSY: do not trust build and timing")
    report = Report()
    for tree in (a, b):
        tree.check_out()
    for part in options.parts:
        PARTS[part](a, b, report, options)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
