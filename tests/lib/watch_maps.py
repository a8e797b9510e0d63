#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks all the time at the maps of a process and of every blip until it gets SIGTERM: no page may be writable and executable.

usage: watch_maps.py PID
Prints `watching`, what it finds, and in the end how often it has looked at the process and at a blip.
"""
import os
import re
import signal
import sys


def blips():
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and open(f"/proc/{entry}/comm").read() == "blip\n":
                yield entry
        except OSError:
            continue


def look(pid):
    """True if it could; ends the program if a page is writable and executable."""
    try:
        maps = open(f"/proc/{pid}/maps").read()
    except OSError:
        return False
    wrong = [line for line in maps.splitlines() if re.match(r"\S+ \Swx", line)]
    if wrong:
        print(f"process {pid}: writable and executable: {wrong[0]}", flush=True)
        sys.exit(1)
    return maps != ""


def main():
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(True))
    print("watching", flush=True)
    looks = {"target": 0, "blip": 0}
    while not over:
        for _ in range(10):
            looks["target"] += look(sys.argv[1])
        for pid in blips():
            looks["blip"] += look(pid)
    print(f"looked={looks['target']} looked_at_blip={looks['blip']}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
