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


def mounted(tree):
    """`tree` at PLACE, for this process and its children only; none where that is forbidden. In a chroot `/` may be no
    mount point: then nothing can be mounted that would not show outside of it too."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        return None
    for words in (["mount", "--make-rprivate", "/"], ["mount", "--bind", tree, PLACE]):
        if subprocess.run(words, capture_output=True).returncode != 0:
            return None
    return PLACE


def copied(tree, parts, spare):
    """`parts` of the tree below `spare`: hard links, or copies on another file system."""
    for part in parts:
        place = spare / part.relative_to(tree)
        place.parent.mkdir(parents=True, exist_ok=True)
        if subprocess.run(["cp", "-alT", part, place], capture_output=True).returncode != 0:
            subprocess.run(["cp", "-aT", "--remove-destination", part, place], check=True)
    return spare


def reachable(tree, parts, spare):
    """`tree`, or where an ordinary user can reach these `parts` of it as well; `spare` is a place for them."""
    if os.geteuid() != 0 or is_open(tree):
        return tree
    return mounted(tree) or copied(tree, parts, spare)
