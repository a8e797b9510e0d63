# SPDX-License-Identifier: MIT
"""A source tree that an ordinary user can reach: half of the cases run as one, and root's home directory is closed to them."""
import ctypes
import os
import pathlib
import subprocess

PLACE = pathlib.Path("/mnt")
CLONE_NEWNS = 0x00020000


def is_open(tree):
    return tree.stat().st_mode & 0o005 == 0o005 and all(path.stat().st_mode & 0o001 for path in tree.parents)


def reachable(tree):
    """`tree`, or where it can be reached as well: mounted for this process and its children only."""
    if os.geteuid() != 0 or is_open(tree):
        return tree
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        print(f"warning: an ordinary user cannot reach {tree}, and it cannot be mounted elsewhere: cases as [user] will fail")
        return tree
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "--bind", tree, PLACE], check=True)
    return PLACE
