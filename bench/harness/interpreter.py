# SPDX-License-Identifier: MIT
"""What the interpreter of handlers takes for an operation, and for a short handler that updates a map."""
import json
import os
import subprocess

from .rows import Check, Row, skipped

SECTION = "interpreter"
LABELS = {"operation": "an operation in a loop of numbers", "handler": "a handler: filter, captured value, sum by key"}
GOALS_NS = {"operation": (10, 3.3), "handler": (330, 150)}  # 100 and 300 M operations, 3 and 6.7 M handlers a second


def rows(scope, _settings):
    program = os.path.join(scope.build, "bench", "blip_interpreter_bench")
    if not os.access(program, os.X_OK):
        return [skipped(SECTION, "interpreter", LABELS["operation"], "blip_interpreter_bench is not built")]
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
    return [_row(json.loads(line)) for line in done.stdout.splitlines()]


def _row(answer):
    row = Row(SECTION, "interpreter." + answer["what"], LABELS[answer["what"]], "ns", 1, answer["ns"], answer["ns"])
    row.checks.append(Check("ns", answer["ns"], *GOALS_NS[answer["what"]]))
    return row
