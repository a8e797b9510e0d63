# SPDX-License-Identifier: MIT
"""Starting on a program with 100 MB of debugging information: blip itself, which records the life of a sleeping process."""
import os
import re
import subprocess
import time

from . import attach, blip
from .rows import Check, skipped
from .scope import end

SECTION = "dwarf"
SETTLE_SECONDS = 1.0
LEAST_MB = 90
FUNCTION = "blip::session::Session::Impl::look_for_more"
ROWS = [  # id, name, arguments
    ("args", "1 function with --args, its copies looked for", ["--function", FUNCTION, "--args"]),
    ("no_inline", "the same with --no-inline", ["--function", FUNCTION, "--args", "--no-inline"]),
    ("type", "a cast to a type of another unit", ["--function", FUNCTION, "--capture", "(blip::session::TracedProcess *)$rdi"]),
]


def rows(scope, settings):
    path = blip.find(scope.build)
    size_mb = path and dwarf_mb(path)
    if not path or size_mb < LEAST_MB:
        why = f"blip has {size_mb:.0f} MB of debugging information" if path else "blip is not built"
        return [skipped(SECTION, "dwarf", "starts on 100 MB of debugging information", why)]
    sleeper = scope.spawn(["sleep", "1000"])
    big = attach.spawn(scope, [path, "record", "-p", str(sleeper.pid), "--lifecycle", "-o", scope.path("lifecycle")])
    time.sleep(SETTLE_SECONDS)
    result = [_row(scope, settings, big.pid, size_mb, *row) for row in ROWS]
    end(big)
    end(sleeper)
    return result


def _row(scope, settings, pid, size_mb, row_id, name, args):
    row = attach.measure(scope, settings, f"dwarf.{row_id}", f"{name} ({size_mb:.0f} MB)", [pid], args, SECTION)
    if not row.problem:
        # There is no cache: every start is a first one, and is held against what a cached one may take.
        row.checks.append(Check("T ms", row.median, 100, 40))
        row.checks.append(Check("memory MB", row.columns["memory"], 300, 100))
    return row


def dwarf_mb(path):
    """Bytes in its .debug_ sections, in millions."""
    done = subprocess.run(["readelf", "-SW", os.path.realpath(path)], capture_output=True, text=True, check=True)
    return sum(int(m[1], 16) for m in re.finditer(r"\.debug_\S+\s+PROGBITS\s+\S+\s+\S+\s+(\S+)", done.stdout)) / 1e6
