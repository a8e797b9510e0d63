# SPDX-License-Identifier: MIT
"""Which functions are probed: a fair cut through those the load really calls.

blip counts all of them during a second of load. Of those called, sorted by calls, every k-th is taken: as many hot ones
and as many rare ones as there are. All tracers get the same list.
"""
import collections
import json
import os
import shutil
import subprocess

from harness import blip, elf

from .sample import LifeError

COUNT_SECONDS = 1.0
MAX_PROBES = "100000"


def called(scope, workload):
    """Functions of the workload's executable by calls, most first."""
    tracer = blip.Blip(scope, "count", workload.pids(),
                       ["--json", "--max-probes", MAX_PROBES, "--function", "*"])
    workload.measure(COUNT_SECONDS)
    tracer.stop()
    return rank(tracer.stdout(), workload.binary)


def rank(counts, binary):
    """Symbols called, most first, from the lines of `blip count --json`; only those an uprobe can stand on too."""
    file = elf.Elf(os.path.realpath(binary))
    symbols = _by_name(file.functions)
    hits = {}
    for line in counts.split("\n"):
        row = json.loads(line) if line.startswith("{") else {"hits": 0}
        if row["hits"] and row["name"] in symbols:
            symbol = symbols[row["name"]]
            hits[symbol] = hits.get(symbol, 0) + row["hits"]
    ranked = sorted((s for s in hits if not file.starts_locked(s)), key=lambda s: -hits[s])
    if not ranked:
        raise LifeError("no function of it was called")
    return ranked


def _by_name(symbols):
    """Symbol by its own name and by the one blip prints, demangled without parameters, where only one has it."""
    mangled = sorted(s for s in symbols if s.startswith("_Z"))
    found = {s: s for s in symbols}
    if mangled and shutil.which("c++filt"):
        done = subprocess.run(["c++filt", "-p"], input="\n".join(mangled), capture_output=True, text=True, check=True)
        names = done.stdout.split("\n")
        shared = {n for n, times in collections.Counter(names).items() if times > 1}
        found.update({n: s for n, s in zip(names, mangled) if n not in shared})
    return found


def cut(ranked, count):
    """`count` of them, evenly spread over the ranks."""
    if count >= len(ranked):
        return list(ranked)
    return [ranked[int((i + 0.5) * len(ranked) / count)] for i in range(count)]
