#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces real servers under load while probes come and go: tests/soak.py --build build [--seconds 300] [--seed N] [--only redis]

blip attaches to one server after the other, with functions, returns or every instruction, for a fraction of a second, and ends, or is killed and
cleaned up after. Every answer the clients get must be right, and at the end nothing of blip may be in any server.
"""
import argparse
import collections
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "torture"), str(HERE / "lib")]
import servers  # noqa: E402
from e2e import state  # noqa: E402
from e2e.process import Failure  # noqa: E402
from stage import WAIT_S, Stage, Wrong, kill_after  # noqa: E402

WAYS = (("count", "--function"), ("count", "--return"), ("record", "--function"), ("record", "--return"), ("record", "--every-instruction"))
KILLED = 0.2  # of the sessions


def parse_options():
    names = {server.__name__.lower(): server for server in servers.ALL}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--only", choices=names, action="append", help="may be repeated")
    options = parser.parse_args()
    options.servers = [names[name] for name in options.only or names]
    return options


def session(stage, server, figures):
    """Runs one blip on some processes of a server."""
    pids = stage.random.sample(server.pids(), 1) if stage.random.random() < 0.5 else server.pids()
    verb, kind = stage.random.choice(WAYS)
    words = [verb, "--max-probes", "200000"]
    for spec in stage.random.sample(server.specs, stage.random.randint(1, 3)):
        words += [kind, spec]
    if verb == "record":
        words += ["-o", stage.directory()]
    for pid in pids:
        words += ["-p", pid]
    if stage.random.random() < KILLED:
        figures["killed"] += kill_after(stage.start_blip(*words), stage.random.uniform(0, 0.5))
        for pid in pids:
            stage.run_blip("clean", "-q", "-p", pid)
    else:
        blip = stage.start_blip(*words, "--duration", f"{stage.random.randint(20, 800)}ms")
        code = blip.wait(WAIT_S)
        said = stage.blip_said()
        if code != 0 and not any(text in said for text in ("has ended", "no such process", "nothing can be armed", "no function matches")):
            raise Wrong(f"blip {' '.join(map(str, words))} exits {code}: {said}")
        figures["armed"] += code == 0
    figures["sessions"] += 1
    stage.tidy()


def check_left(server):
    for pid in server.pids():
        if state.is_alive(pid) and not state.untouched(pid):
            raise Wrong(f"something of blip is left in {type(server).__name__} ({pid})")


def soak(stage, kinds):
    figures = collections.Counter()
    running = [kind(stage) for kind in kinds]
    while not stage.over():
        for server in running:
            server.check()
        session(stage, stage.random.choice(running), figures)
    for server in running:
        server.finish()
        check_left(server)
    return figures


def main():
    options = parse_options()
    names = ", ".join(kind.__name__ for kind in options.servers)
    print(f"soak: seed {options.seed}, {options.seconds:.0f} s with {names}", flush=True)
    with Stage(options.build.resolve(), options.seconds, options.seed) as stage:
        stage.scratch.chmod(0o755)
        try:
            figures = soak(stage, options.servers)
        except (Wrong, Failure) as wrong:
            print(f"soak: WRONG: {wrong}")
            return 1
    print("soak: " + ", ".join(f"{value} {what}" for what, value in figures.items()) + "; every answer right, nothing left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
