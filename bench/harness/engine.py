# SPDX-License-Identifier: MIT
"""What blip needs for a deferred hit behind the ring: queue, merge, decoding, a short handler."""
import json
import os
import subprocess

from .rows import Check, Row, skipped

SECTION = "interpreter"
NAME, LABEL = "engine.deferred", "a deferred hit: queue, merge, filter, sum by key"
GOALS_NS = (330, 166)  # 3 and 6 M hits a second on one core


def rows(scope, _settings):
    program = os.path.join(scope.build, "bench", "blip_engine_bench")
    if not os.access(program, os.X_OK):
        return [skipped(SECTION, NAME, LABEL, "blip_engine_bench is not built")]
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
    answer = json.loads(done.stdout)
    row = Row(SECTION, NAME, LABEL, "ns", 1, answer["ns"], answer["ns"])
    row.checks.append(Check("ns", answer["ns"], *GOALS_NS))
    return [row]
