# SPDX-License-Identifier: MIT
"""Which functions are probed: a fair cut through those the load really calls.

blip counts all of them during a second of load. Of those called, sorted by calls, every k-th is taken: as many hot ones
and as many rare ones as there are. All tracers get the same list.
"""
import json
import os

from harness import blip, elf

from .sample import LifeError

COUNT_SECONDS = 1.0
MAX_PROBES = "100000"


def called(scope, workload):
    """Functions of the workload's executable by calls, most first; only those an uprobe can find too."""
    tracer = blip.Blip(scope, "count", workload.pids(),
                       ["--json", "--max-probes", MAX_PROBES, "--function", "*"])
    workload.measure(COUNT_SECONDS)
    tracer.stop()
    hits = {}
    for line in tracer.stdout().split("\n"):
        if line.startswith("{"):
            row = json.loads(line)
            hits[row["name"]] = hits.get(row["name"], 0) + row["hits"]
    known = elf.Elf(os.path.realpath(workload.binary)).functions
    ranked = sorted((n for n in hits if hits[n] and n in known), key=lambda n: -hits[n])
    if not ranked:
        raise LifeError("no function of it was called")
    return ranked


def cut(ranked, count):
    """`count` of them, evenly spread over the ranks."""
    if count >= len(ranked):
        return list(ranked)
    return [ranked[int((i + 0.5) * len(ranked) / count)] for i in range(count)]
