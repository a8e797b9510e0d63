#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the branches of rooms that unit tests alone cover (gcov). `make coverage-unit` builds what it needs.

    tools/unit_coverage.py --build build                          session/plan, session/drain and collect
    tools/unit_coverage.py --build build session/drain            one room
    tools/unit_coverage.py --build build session/drain --missed   with the lines whose branches are not all taken
    tools/unit_coverage.py --build build --least 70 collect       fails below 70 %

Only the units and the tests of the rooms are compiled again, with gcov and without optimization, into a directory of their
own. They are linked in front of the libraries of an ordinary build, and so replace their members. They are compiled without
exceptions: else each call has a second branch that nothing takes.
"""
import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ["session/plan", "session/drain", "collect"]
TEST = re.compile(r"(_test|_fuzz|_bench)\.cc$|^test_\w+\.h$")
FLAGS = ["-O0", "-w", "--coverage", "-fprofile-abs-path", "-fprofile-update=atomic", "-fno-exceptions"]
DROPPED = re.compile(r"^(-O\d?|-Werror|-D_FORTIFY_SOURCE=\d)$")


class Unit:
    """A file of a room, how it is compiled, and where its instrumented object lies."""

    def __init__(self, entry, directory):
        words = [word for word in shlex.split(entry["command"]) if not DROPPED.match(word)]
        at = words.index("-o") + 1
        self.source = pathlib.Path(entry["file"]).resolve()
        self.ordinary = words[at]
        self.object = directory / words[at]
        words[at] = str(self.object)
        self.made_of = self.object.with_suffix(".d")
        words += FLAGS + ["-MD", "-MF", str(self.made_of)]
        self.command, self.cwd = words, entry["directory"]

    def is_fresh(self):
        """No file that the object was made of is newer, and the tool is not either."""
        if not self.object.exists() or not self.made_of.exists():
            return False
        files = re.split(r"\\?\s+", self.made_of.read_text().partition(":")[2].strip())
        made = self.object.stat().st_mtime
        try:
            notes = self.object.with_suffix(".gcno")
            return all(os.stat(os.path.join(self.cwd, file)).st_mtime <= made for file in [*files, __file__, notes])
        except FileNotFoundError:
            return False

    def compile(self):
        if self.is_fresh():
            return 0
        self.object.parent.mkdir(parents=True, exist_ok=True)
        return subprocess.run(self.command, cwd=self.cwd).returncode


def units_of(build, rooms, directory):
    entries = json.loads((build / "compile_commands.json").read_text())
    folders = [ROOT / "src" / room for room in rooms]
    units = (Unit(entry, directory) for entry in entries
             if any(pathlib.Path(entry["file"]).resolve().parent == folder for folder in folders))
    return [unit for unit in units if not unit.source.name.endswith("_fuzz.cc")]


def link(build, area, units, program):
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", f"{area}_test"], check=True, capture_output=True, text=True)
    command = next(line for line in reversed(commands.stdout.splitlines()) if f" -o {area}_test " in line)
    words = [word for word in shlex.split(command) if word not in (":", "&&")]
    ordinary = {unit.ordinary for unit in units}
    at = words.index("-o")
    kept = [word for word in words[:at] if word not in ordinary]
    mine = [str(unit.object) for unit in units if "/".join(unit.source.relative_to(ROOT / "src").parts[:1]) == area]
    subprocess.run(kept + mine + ["--coverage", "-o", str(program)] + words[at + 2:], cwd=build, check=True)


Branch = collections.namedtuple("Branch", "file function line index")


def branches(objects, rooms):
    """How often each branch of the rooms was taken. A function of a header may be in several objects."""
    taken = collections.Counter()
    folders = {ROOT / "src" / room for room in rooms}
    for notes in objects:
        out = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", notes.name], cwd=notes.parent,
                             check=True, capture_output=True).stdout
        text = gzip.decompress(out) if out[:2] == b"\x1f\x8b" else out
        for report in text.splitlines():
            for file in json.loads(report)["files"]:
                path = pathlib.Path(os.path.realpath(file["file"]))
                if path.parent not in folders or TEST.search(path.name):
                    continue
                for line in file["lines"]:
                    for index, branch in enumerate(line["branches"]):
                        key = Branch(path, line.get("function_name", ""), line["line_number"], index)
                        taken[key] += branch["count"]
    return taken


def percent(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "    - "


def report(taken, rooms, missed):
    shares = {}
    for room in rooms:
        of_room = {key: count for key, count in taken.items() if key.file.parent == ROOT / "src" / room}
        files = collections.defaultdict(list)
        for key, count in of_room.items():
            files[key.file].append((key, count))
        hit = sum(count > 0 for count in of_room.values())
        shares[room] = 100 * hit / len(of_room) if of_room else 0
        print(f"{room:32} {hit:5} of {len(of_room):5} branches  {percent(hit, len(of_room))}")
        for file, found in sorted(files.items()):
            hit = sum(count > 0 for _, count in found)
            print(f"  {file.name:30} {hit:5} of {len(found):5}           {percent(hit, len(found))}")
            lines = sorted({key.line for key, count in found if count == 0})
            if missed and lines:
                text = file.read_text().splitlines()
                for line in lines:
                    print(f"    {line:5}  {text[line - 1].strip()[:100]}")
    return shares


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", help="folders of src; default: " + " ".join(ROOMS))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="an ordinary build with the test programs")
    parser.add_argument("--missed", action="store_true", help="print the lines whose branches are not all taken")
    parser.add_argument("--least", type=float, default=0, help="the percentage that each room must have")
    parser.add_argument("--filter", default="*", help="which tests run, as --gtest_filter")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=120, help="seconds for the tests of one area")
    arguments = parser.parse_args()
    rooms = arguments.rooms or ROOMS
    build = arguments.build.resolve()
    directory = build / "coverage"
    units = units_of(build, rooms, directory)
    if not units:
        sys.exit("no file of these rooms is compiled in " + str(build))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        if any(pool.map(Unit.compile, units)):
            sys.exit(1)
    for old in directory.rglob("*.gcda"):
        old.unlink()
    for area in sorted({room.split("/")[0] for room in rooms}):
        program = directory / f"{area}_test"
        link(build, area, units, program)
        tests = subprocess.run([program, "--gtest_brief=1", f"--gtest_filter={arguments.filter}"], cwd=build, timeout=arguments.timeout)
        if tests.returncode != 0:
            sys.exit(f"the tests of {area} fail: their coverage says nothing")
    shares = report(branches([unit.object.with_suffix(".gcno") for unit in units], rooms), rooms, arguments.missed)
    low = [room for room, share in shares.items() if share < arguments.least]
    if low:
        sys.exit(f"below {arguments.least:g} %: " + ", ".join(low))


if __name__ == "__main__":
    main()
