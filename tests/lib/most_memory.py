#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command and says whether it kept within an amount of memory.

usage: most_memory.py KIB COMMAND...

Ends as the command does. Prints "within KIB KiB", or how much memory it had at most. Signals to end go to the command.
"""
import os
import signal
import subprocess
import sys


def main():
    limit, command = int(sys.argv[1]), sys.argv[2:]
    child = subprocess.Popen(command)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: child.send_signal(number))
    _, status, usage = os.wait4(child.pid, 0)
    print(f"within {limit} KiB" if usage.ru_maxrss <= limit else f"took {usage.ru_maxrss} KiB", flush=True)
    return os.waitstatus_to_exitcode(status) & 0xff


if __name__ == "__main__":
    sys.exit(main())
