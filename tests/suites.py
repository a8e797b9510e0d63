#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the test suites of real programs under probes: tests/suites.py --build build [--only cpython|sqlite|runtimes] [--quick]

Every suite runs untraced first and then under blip; each single result must be the same. What differs once is run again, alone and both ways:
suites have tests of their own that fail on a busy machine.
"""
import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "suites"), str(HERE / "lib")]
import cpython  # noqa: E402
import runtimes  # noqa: E402
import sqlite  # noqa: E402

SUITES = {"cpython": cpython, "sqlite": sqlite, "runtimes": runtimes}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=SUITES, action="append", help="may be repeated")
    parser.add_argument("--quick", action="store_true", help="a few minutes' part of each")
    return parser.parse_args()


def compare(name, run, part):
    """Runs a part of a suite both ways; the results that differ, twice. run(part, traced) gives {test: outcome}."""
    begin = time.monotonic()
    plain, armed = run(part, False), run(part, True)
    if not plain:
        sys.exit(f"suites: {name}: {part}: no results")
    differing = {test for test in set(plain) | set(armed) if plain.get(test) != armed.get(test)}
    if differing:
        again, armed_again = run(part, False), run(part, True)
        shown = {test: (again.get(test), armed_again.get(test)) for test in sorted(differing)}
        differing = {test for test in differing if again.get(test) != armed_again.get(test)}
        print(f"suites: {name}: {part}: differed once: {shown}")
    print(f"suites: {name}: {part}: {len(plain)} results, {len(differing)} differ ({time.monotonic() - begin:.0f} s)", flush=True)
    return differing


def main():
    options = parse_options()
    differing = {}
    for name in options.only or SUITES:
        suite = SUITES[name].Suite(options.build.resolve())
        for part in suite.parts(options.quick):
            if found := compare(name, suite.run, part):
                differing[part] = found
        suite.close()
    for part, tests in differing.items():
        print(f"suites: FAIL: {part}: {sorted(tests)}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
