# SPDX-License-Identifier: MIT
"""Coverage: the share of instructions, of function entries, and of functions with all exits, that a jump can be put on."""
import glob
import json
import os
import shutil
import subprocess

from .rows import Check, Row, skipped

SECTION = "coverage"
# what -> label, must, reach for; the same for a file that is not position independent
WHATS = {"alone": ("each instruction of {}, alone", 99.5, 99.95), "together": ("all instructions of {} at once", 99.0, 99.9),
         "entries": ("function entries of {}", 99.9, 100.0), "exits": ("functions of {} with all their exits", 99.5, 99.9)}
FIXED = {"alone": (97.0, 99.5)}


def files():
    """What the issue names, as the distribution ships it."""
    def library(pattern):
        return next(iter(sorted(glob.glob("/usr/lib/*-linux-gnu/" + pattern))), None)
    found = {"libc": library("libc.so.6"), "libstdc++": library("libstdc++.so.6"), "python3": "/usr/bin/python3",
             "libcrypto": library("libcrypto.so.3"), "gdb": shutil.which("gdb")}
    return {name: os.path.realpath(path) for name, path in found.items() if path and os.path.exists(path)}


def rows(scope, settings):
    program = os.path.join(scope.build, "blip_coverage")
    if not os.access(program, os.X_OK):
        return [skipped(SECTION, "coverage", "instructions patched by a jump", "blip_coverage is not built")]
    return [row for name, path in files().items() for row in _rows(program, name, path, settings)]


def _rows(program, name, path, settings):
    try:
        done = subprocess.run([program, "--json", path], capture_output=True, text=True,
                              timeout=settings.coverage_timeout, check=True)
        return [_row(name, path, json.loads(line)) for line in done.stdout.splitlines()]
    except (subprocess.SubprocessError, ValueError, KeyError, ZeroDivisionError) as e:
        return [skipped(SECTION, f"coverage.{name}", f"instructions of {name}", f"blip_coverage: {e}")]


def _row(name, path, answer):
    label, must, reach = WHATS[answer["what"]]
    if not _is_movable(path):
        must, reach = FIXED.get(answer["what"], (must, reach))
        name += " (not PIE)"
    share = 100 * answer["jump"] / answer["total"]
    row = Row(SECTION, f"coverage.{name.split()[0]}.{answer['what']}", label.format(name), "%", 1, share, share)
    row.columns = {"total": answer["total"], "refused": answer["refused"], "ms": answer["ms"], "pages": answer["pages"]}
    row.checks.append(Check("%", share, must, reach, at_least=True))
    return row


def _is_movable(path):
    with open(path, "rb") as f:
        return f.read(18)[16] == 3  # ET_DYN
