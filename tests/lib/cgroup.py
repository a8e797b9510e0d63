#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts a process into a cgroup with little CPU and little memory, and takes it out again. Version 2 or 1, as mounted.

usage: cgroup.py check | limit PID | release PID
"""
import os
import pathlib
import sys

ROOT = pathlib.Path("/sys/fs/cgroup")
PERIOD_US, QUOTA_US = 20_000, 2_000  # a tenth of a CPU
MEMORY = 64 << 20


def unified():
    controllers = ROOT / "cgroup.controllers"
    return controllers.exists() and {"cpu", "memory"} <= set(controllers.read_text().split())


def hierarchies():
    """Directories to make groups in, each with the files to write there."""
    if unified():
        return {ROOT: {"cpu.max": f"{QUOTA_US} {PERIOD_US}", "memory.max": str(MEMORY)}}
    return {ROOT / "cpu": {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(QUOTA_US)},
            ROOT / "memory": {"memory.limit_in_bytes": str(MEMORY)}}


def usable():
    return all(os.access(where / "cgroup.procs", os.W_OK) for where in hierarchies())


def limit(pid):
    if unified():
        (ROOT / "cgroup.subtree_control").write_text("+cpu +memory")
    for where, files in hierarchies().items():
        group = where / f"blip-test-{pid}"
        group.mkdir()
        for name, value in files.items():
            (group / name).write_text(value)
        (group / "cgroup.procs").write_text(pid)


def release(pid):
    for where in hierarchies():
        (where / "cgroup.procs").write_text(pid)
        (where / f"blip-test-{pid}").rmdir()


if __name__ == "__main__":
    if sys.argv[1] == "check":
        sys.exit(0 if usable() else 1)
    {"limit": limit, "release": release}[sys.argv[1]](sys.argv[2])
