# SPDX-License-Identifier: MIT
"""The scenarios of `make torture`: each runs until its stage is over and gives the figures it reached; Wrong ends the run."""
import collections
import re
import subprocess

import faults
import points
from e2e import trace
from published import check_published
from stage import WAIT_S, Wrong, kill_after

TOOLS = (("count",), ("record", "--num-subbuf", "2", "--subbuf-size", "64k"))
PATTERNS = ("tiny_*", "tiny_m*", "tiny_*p*", "*:mallo*", "tiny_lea")


def cycles(stage):
    """Attach, arm, disarm, detach, in one process and quickly; two targets, whose threads check every answer."""
    targets = [stage.target("hammer", 2), stage.target("signal_storm", 2000)]
    targets[1].keep_going()
    figures = collections.Counter()
    cyclers = []
    for target, spec in zip(targets, ("tiny_*", "work")):
        left = max(1, int(stage.remaining()))
        argv = [str(stage.cycler), str(target.pid), spec, str(left), str(stage.random.getrandbits(32))]
        cyclers.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    for target, cycler in zip(targets, cyclers):
        out, _ = cycler.communicate(timeout=stage.remaining() + WAIT_S)
        if cycler.returncode != 0:
            raise Wrong(f"cycler at {target.name}: {out.strip()[-500:]}")
        words = out.split()
        for name, value in zip(words[::2], words[1::2]):
            figures[name] = max(figures[name], int(value)) if name == "pause_us" else figures[name] + int(value)
        target.check_untouched("after the cycles")
        target.finish()
    return figures


def kill_blip(stage):
    """SIGKILL of blip at random moments; the next blip, or blip clean, puts everything right."""
    target = stage.target("hammer", 2)
    figures = collections.Counter()
    while not stage.over():
        words = list(stage.random.choice(TOOLS)) + ["-p", target.pid, "--function", stage.random.choice(PATTERNS)]
        if words[0] == "record":
            words += ["-o", stage.directory()]
        process = stage.start_blip(*words)
        figures["kills"] += kill_after(process, stage.random.uniform(0, 0.06))
        target.check_alive(f"after kill {figures['kills']}")
        if figures["kills"] % 8 == 0:
            stage.run_blip("clean", "-q", "-p", target.pid)
            target.check_untouched(f"after kill {figures['kills']} and blip clean")
            figures["cleaned"] += 1
            stage.tidy()
    stage.run_blip("clean", "-q", "-p", target.pid)
    target.check_untouched("at the end")
    target.finish()
    return figures


PROCESSES = 16


def kill_target(stage):
    """SIGKILL of targets at random moments: the trace holds every call that had been published."""
    figures = collections.Counter()
    while not stage.over():
        files = [stage.scratch / f"progress{i}" for i in range(PROCESSES)]
        targets = [stage.target("published", file, 2) for file in files]
        directory = stage.directory()
        words = ["record", "--function", "work", "--context", "reg:rdi", "--context", "tid", "--num-subbuf", "4", "--subbuf-size",
                 "64k", "-o", directory]
        for target in targets:
            words += ["-p", target.pid]
        blip = stage.start_blip(*words)
        stage.wait_for_armed(blip)
        for target in targets:
            target.go()
        for target in stage.random.sample(targets, len(targets)):
            kill_after(target.popen, stage.random.uniform(0, 0.02))
        if blip.wait(WAIT_S) != 0:
            raise Wrong(f"blip exits {blip.returncode}: {stage.blip_said()}")
        figures["events"] += check_published(directory, files, stage.blip_said())
        figures["kills"] += len(targets)
        stage.started.clear()
        stage.tidy()
    return figures


def shifting(stage):
    """Values behind pointers while their memory comes and goes; blips that end, and that are killed."""
    target = stage.target("shifting", 3, 1000, stage.targets / "libplug_a.so")
    target.keep_going()
    captures = ("n, what, value = p->value, said = p->text, deep = p->inner->inner->value", "n, what, whole = *p", "p->text, p->words")
    figures = collections.Counter()
    while not stage.over():
        directory = stage.directory()
        capture = stage.random.choice(captures)
        words = ["record", "-p", target.pid, "--function", "seen", "--capture", capture, "--num-subbuf", "4", "--subbuf-size", "256k", "-o", directory]
        if stage.random.random() < 0.3:
            figures["kills"] += kill_after(stage.start_blip(*words), stage.random.uniform(0, 1))
        else:
            stage.run_blip(*words, "--duration", f"{stage.random.uniform(0.2, 2):.1f}s")
            figures["events"] += check_shifting(directory, stage.blip_said(), capture)
            figures["sessions"] += 1
        target.check_alive(f"with --capture '{capture}'")
        stage.tidy()
    stage.run_blip("clean", "-q", "-p", target.pid)
    target.check_untouched("at the end")
    target.finish()
    return figures


def check_shifting(directory, said, capture):
    """Values of memory that stays during the call are right, of memory that cannot be read missing; the numbers agree."""
    events, discarded, _ = map(int, re.search(r"blip: (\d+) events, (\d+) discarded, (\d+) skipped", said).groups())
    if trace.count_events(directory) != (events, discarded):
        raise Wrong(f"blip says {events} events and {discarded} discarded, babeltrace2 {trace.count_events(directory)}")
    if "deep" in capture:
        for e in trace.read_events(directory):
            right = {0: (e.n * 7, f"item {e.n}", e.n * 7, 0), 1: (0, e.said, 0, 0x1c)}.get(e.what)
            if right and (e.value, e.said, e.deep, e.faults) != right:
                raise Wrong(f"call {e.n} ({e.what}): {e.value}, {e.said!r}, {e.deep}, {e.faults}")
    return events


ALL = {"cycles": cycles, "shifting": shifting, "kill-blip": kill_blip, "kill-target": kill_target, "points-kill": points.kill, "points-hold": points.hold,
       "faults": faults.faults}
