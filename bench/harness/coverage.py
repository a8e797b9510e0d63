# SPDX-License-Identifier: MIT
"""Coverage: the share of function entries the planner can arm by steps (a) to (c)."""
import glob
import json
import os
import shutil
import subprocess

from .rows import Check, Row, skipped

SECTION = "coverage"


def _files():
    """libc, python3 and gdb as the distribution ships them."""
    libc = next(iter(glob.glob("/lib/*-linux-gnu/libc.so.6")), None)
    found = {"libc": libc, "python3": "/usr/bin/python3", "gdb": shutil.which("gdb")}
    return {name: os.path.realpath(path) for name, path in found.items() if path and os.path.exists(path)}


def rows(scope, settings):
    program = os.path.join(scope.build, "blip_coverage")
    if not os.access(program, os.X_OK):
        return [skipped(SECTION, "coverage", "function entries armed", "blip_coverage is not built")]
    return [_row(program, name, path, settings) for name, path in _files().items()]


def _row(program, name, path, settings):
    row_id, label = f"coverage.{name}", f"function entries of {name} armed"
    try:
        done = subprocess.run([program, path], capture_output=True, text=True, timeout=settings.coverage_timeout,
                              check=True)
        answer = json.loads(done.stdout.split("\n")[0])
        share = 100 * answer["armed"] / answer["functions"]
    except (subprocess.SubprocessError, ValueError, KeyError, ZeroDivisionError) as e:
        return skipped(SECTION, row_id, label, f"blip_coverage: {e}")
    row = Row(SECTION, row_id, label, "%", 1, share, share)
    row.columns = {"functions": answer["functions"], "armed": answer["armed"]}
    row.checks.append(Check("%", share, 97, 99, at_least=True))
    return row
