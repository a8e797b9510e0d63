# SPDX-License-Identifier: MIT
"""Starting on a program with 100 MB of debugging information: blip itself, built with all of it (BUILD-debug, which `make bench`
makes), which records the life of a sleeping process.

A first start makes the index of names and keeps it, in a cache directory of its own; the others find it there.
"""
import os
import re
import shutil
import subprocess
import time

from . import attach, blip
from .rows import Check, skipped
from .scope import end

SECTION = "dwarf"
SETTLE_SECONDS = 1.0
LEAST_MB = 90
FUNCTION = "blip::session::Session::Impl::look_for_more"
ARGS = ["--function", FUNCTION, "--args"]
TYPE = ["--function", FUNCTION, "--capture", "(blip::session::TracedProcess *)$rdi"]
FIRST, CACHED = (1000, 300), (100, 40)  # ms: what it must be, what would be good
ROWS = [  # id, name, arguments, is it the first start, bounds
    ("first", "1 function with --args, its copies looked for: first start", ARGS, True, FIRST),
    ("args", "the same, cached", ARGS, False, CACHED),
    ("no_inline", "the same with --no-inline", ARGS + ["--no-inline"], False, CACHED),
    ("type", "a cast to a type of another unit, cached", TYPE, False, CACHED),
]


def rows(scope, settings):
    path = blip.find(f"{scope.build}-debug")
    size_mb = path and dwarf_mb(path)
    if not path or size_mb < LEAST_MB:
        why = f"{path} has {size_mb:.0f} MB of debugging information" if path else f"{scope.build}-debug/blip is not built: make bench"
        return [skipped(SECTION, "dwarf", "starts on 100 MB of debugging information", why)]
    sleeper = scope.spawn(["sleep", "1000"])
    big = attach.spawn(scope, [path, "record", "-p", str(sleeper.pid), "--lifecycle", "-o", scope.path("lifecycle")])
    time.sleep(SETTLE_SECONDS)
    cache = scope.path("cache")
    os.makedirs(cache, mode=0o700)
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = cache
    result = [_row(scope, settings, big.pid, size_mb, cache, *row) for row in ROWS]
    os.environ.pop("XDG_CACHE_HOME")
    if before is not None:
        os.environ["XDG_CACHE_HOME"] = before
    end(big)
    end(sleeper)
    return result


def _row(scope, settings, pid, size_mb, cache, row_id, name, args, is_first, bounds):
    forget = lambda: shutil.rmtree(os.path.join(cache, "blip"), ignore_errors=True)
    row = attach.measure(scope, settings, f"dwarf.{row_id}", f"{name} ({size_mb:.0f} MB)", [pid], args, SECTION,
                         before=forget if is_first else lambda: None)
    if not row.problem:
        row.checks.append(Check("T ms", row.median, *bounds))
        row.checks.append(Check("memory MB", row.columns["memory"], 300, 100))
    return row


def dwarf_mb(path):
    """Bytes in its .debug_ sections, in millions."""
    done = subprocess.run(["readelf", "-SW", os.path.realpath(path)], capture_output=True, text=True, check=True)
    return sum(int(m[1], 16) for m in re.finditer(r"\.debug_\S+\s+PROGBITS\s+\S+\s+\S+\s+(\S+)", done.stdout)) / 1e6
