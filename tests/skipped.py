#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how many end-to-end cases ctest skipped, and why: tests/skipped.py BUILD"""
import collections
import pathlib
import re
import sys

SKIP = re.compile(r"^skip [^:]+: .*?: (needs .*)$", re.MULTILINE)


def main():
    log = pathlib.Path(sys.argv[1]) / "Testing/Temporary/LastTest.log"
    reasons = collections.Counter(SKIP.findall(log.read_text(errors="replace")))
    print(f"{sum(reasons.values())} end-to-end cases were skipped" + (":" if reasons else ""))
    for reason, times in reasons.most_common():
        print(f"  {times}: {reason}")


if __name__ == "__main__":
    main()
