#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attach and detach again and again under load: tests/torture/sessions.py --blip build/blip --targets build/targets [--cycles 1000]

The target's threads check every result. After each session nothing of blip may be in the target; at the end neither the target
nor blip may have grown since the first sessions. Prints what it measured.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from e2e import state  # noqa: E402

WARM_UP = 20  # sessions after which everything that is allocated once has been
SLACK_KIB = 256  # the target's own allocator, page tables
MODES = (("count",), ("record", "--num-subbuf", "2", "--subbuf-size", "64k", "-o", "{dir}"))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blip", type=pathlib.Path, required=True)
    parser.add_argument("--targets", type=pathlib.Path, required=True)
    parser.add_argument("--cycles", type=int, default=1000)
    return parser.parse_args()


def memory_kib(pid):
    with open(f"/proc/{pid}/status") as file:
        lines = dict(line.split(":", 1) for line in file if line.startswith(("RssAnon", "VmPTE")))
    return sum(int(value.split()[0]) for value in lines.values())


def measure(pid):
    return {"memory": memory_kib(pid), "maps": len(state.read_maps(pid)), "fds": len(os.listdir(f"/proc/{pid}/fd"))}


def session(blip, pid, number, scratch):
    """One attach and detach; blip's largest memory in KiB."""
    words = [word.format(dir=f"{scratch}/t{number}") for word in MODES[number % len(MODES)]]
    argv = [str(blip), words[0], "-q", "-p", str(pid), "--function", "tiny_*", "--duration", "5ms", *words[1:]]
    with open(f"{scratch}/err", "w") as err:
        child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"session {number} exits {child.returncode}: {pathlib.Path(scratch, 'err').read_text().strip()}")
    subprocess.run(["rm", "-rf", f"{scratch}/t{number}"], check=True)
    return usage.ru_maxrss


def main():
    options = parse_options()
    scratch = subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip()
    target = subprocess.Popen([str(options.targets / "hammer"), "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    target.stdout.readline()
    begin, first, blip_kib = time.monotonic(), None, []
    for number in range(options.cycles):
        blip_kib.append(session(options.blip, target.pid, number, scratch))
        if target.poll() is not None or not state.untouched(target.pid):
            sys.exit(f"session {number} left something in the target, or ended it")
        if number + 1 == min(WARM_UP, options.cycles):
            first = measure(target.pid)
    seconds, last = time.monotonic() - begin, measure(target.pid)
    target.stdin.close()
    code = target.wait(30)
    subprocess.run(["rm", "-rf", scratch], check=True)
    early, late = max(blip_kib[:WARM_UP]), max(blip_kib[-WARM_UP:])
    print(f"{options.cycles} sessions in {seconds:.1f} s; the target exits {code}")
    for what in first:
        print(f"target {what}: {first[what]} after {min(WARM_UP, options.cycles)} sessions, {last[what]} at the end")
    print(f"blip's memory: at most {early} KiB in the first sessions, {late} KiB in the last")
    grown = last["maps"] > first["maps"] or last["fds"] > first["fds"] or last["memory"] > first["memory"] + SLACK_KIB
    if code != 0 or grown or late > early * 1.2:
        sys.exit("FAIL: a wrong answer, or something grew")


if __name__ == "__main__":
    main()
