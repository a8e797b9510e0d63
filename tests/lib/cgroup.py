#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts a process into a cgroup with little CPU and little memory, or into one that is frozen, and takes it out again.
Version 2 or 1, as mounted.

usage: cgroup.py check | limit PID | release PID | freeze PID | frozen PID | thaw PID
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


def freezer():
    """Where groups that can be frozen are made, the file that does it, and what is written there to freeze and to thaw."""
    if (ROOT / "cgroup.controllers").exists():
        return ROOT, "cgroup.freeze", "1", "0"
    return ROOT / "freezer", "freezer.state", "FROZEN", "THAWED"


def freezer_usable():
    return os.access(freezer()[0] / "cgroup.procs", os.W_OK)


def freeze(pid):
    where, file, frozen, _ = freezer()
    group = where / f"blip-test-{pid}"
    group.mkdir()
    (group / "cgroup.procs").write_text(pid)
    (group / file).write_text(frozen)


def check_frozen(pid):
    where, file, frozen, _ = freezer()
    sys.exit(0 if (where / f"blip-test-{pid}" / file).read_text().strip() in (frozen, "FREEZING") else 1)


def thaw(pid):
    where, file, _, thawed = freezer()
    group = where / f"blip-test-{pid}"
    (group / file).write_text(thawed)
    (where / "cgroup.procs").write_text(pid)
    group.rmdir()


if __name__ == "__main__":
    if sys.argv[1] == "check":
        sys.exit(0 if usable() else 1)
    {"limit": limit, "release": release, "freeze": freeze, "frozen": check_frozen, "thaw": thaw}[sys.argv[1]](sys.argv[2])
