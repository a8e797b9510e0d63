#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the long, random tests: tests/torture.py --build build [--seconds 600] [--seed N] [--only NAME]

Every scenario (tests/torture/scenarios.py) gets the same share of the time. The seed is printed; the same seed makes the same choices.
At its end it prints a line of figures per scenario, for docs/RELIABILITY.md.
"""
import argparse
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "torture"), str(HERE / "lib")]
import scenarios  # noqa: E402
from e2e.process import Failure  # noqa: E402
from stage import Stage, Wrong  # noqa: E402


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--only", choices=scenarios.ALL, action="append", help="may be repeated")
    return parser.parse_args()


def main():
    options = parse_options()
    names = options.only or list(scenarios.ALL)
    print(f"torture: seed {options.seed}, {options.seconds:.0f} s for {', '.join(names)}", flush=True)
    failed = False
    for name in names:
        begin = time.monotonic()
        with Stage(options.build.resolve(), options.seconds / len(names), f"{options.seed} {name}") as stage:
            try:
                figures = scenarios.ALL[name](stage)
            except (Wrong, Failure) as wrong:
                print(f"torture: {name}: WRONG: {wrong}\n  again: {sys.argv[0]} --build {options.build} --only {name} "
                      f"--seconds {options.seconds / len(names):.0f} --seed {options.seed}")
                failed = True
                continue
        told = ", ".join(f"{value} {what}" for what, value in figures.items())
        print(f"torture: {name}: {told} in {time.monotonic() - begin:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
