#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/RELIABILITY.md: every line of the catalogue is there once, with tests that exist or with the reason why not."""
import re
import sys

import project_tests

# Lines per section.
CATALOGUE = {"A": 24, "B": 18, "C": 13, "D": 10, "E": 16, "F": 11, "G": 11, "H": 10, "I": 5, "J": 12, "K": 11, "M": 5}
FLOOR = 90  # percent of the lines that are not pending
# A test is named by its program or file, a colon, and its own name.
TEST = re.compile(r"`(\w+\.t: [^`]+|\w+_test: [^`]+|make \w+: [^`]+|ctest: [^`]+)`")


def table_rows(text):
    """The cells of every row of every table."""
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def problems_of(rows, text, known):
    expected = [f"{section}-{n}" for section, count in CATALOGUE.items() for n in range(1, count + 1)]
    ids = [row[0] for row in rows]
    yield from (f"{line} is missing" for line in expected if line not in ids)
    yield from (f"{line} is there {ids.count(line)} times" for line in set(ids) if ids.count(line) > 1)
    yield from (f"{line} is not in the catalogue" for line in ids if line not in expected)
    named = {name for row in table_rows(text) for cell in row for name in TEST.findall(cell)}
    yield from (f"no such test: {name}" for name in sorted(named - known))
    for line, _, shown, remark in rows:
        if not TEST.search(shown) and not re.match(r"(pending|not covered|open): \S", remark):
            yield f"{line} has neither a test nor a reason (pending: ..., not covered: ..., open: ...)"


def main():
    text = (project_tests.ROOT / "docs/RELIABILITY.md").read_text()
    rows = [row for row in table_rows(text) if re.fullmatch(r"[A-Z]-\d+", row[0])]
    problems = list(problems_of(rows, text, project_tests.every_test()))
    for problem in problems:
        print(f"docs/RELIABILITY.md: {problem}", file=sys.stderr)
    shown = sum(bool(TEST.search(row[2])) for row in rows)
    pending = sum(not TEST.search(row[2]) and row[3].startswith("pending:") for row in rows)
    share = 100 * shown / max(1, len(rows) - pending)
    print(f"{len(rows)} lines: {shown} shown by tests, {pending} pending, {len(rows) - pending - shown} not covered: {share:.1f} %")
    return 1 if problems or share < FLOOR else 0


if __name__ == "__main__":
    sys.exit(main())
