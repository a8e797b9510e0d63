#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each reason of docs/refusals.md is in the source, and in a test that expects it."""
import re
import sys

from project_tests import ROOT, case_files, code_files, is_test


def text_of(paths):
    """All of them, with string literals that go on in the next line put together."""
    text = "\n".join(p.read_text(errors="replace") for p in paths)
    return re.sub(r'"\s*\n\s*"', "", text)


def main():
    reasons = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs/refusals.md").read_text(), re.M)
    source = text_of(p for p in code_files() if not is_test(p))
    tests = text_of([p for p in code_files() if is_test(p)] + case_files())
    problems = [f"{r!r} is not in the source" for r in reasons if r not in source]
    problems += [f"{r!r} is in no test" for r in reasons if r not in tests]
    for problem in problems:
        print(f"docs/refusals.md: {problem}", file=sys.stderr)
    print(f"{len(reasons)} reasons, {len(problems)} problems")
    return 1 if problems or not reasons else 0


if __name__ == "__main__":
    sys.exit(main())
