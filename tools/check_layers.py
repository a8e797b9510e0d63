#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when an include leaves the rooms that its own room may use.

A room is a folder of src. The DEPS of blip_room() in CMakeLists.txt say which rooms it may include; a room that it does not
include may not be listed. Tests see all rooms of their area and what these may include. Files that run in the target (the
sources of the blob and whatever they include) may include only the rooms of the blob. Only proc reads /proc.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ROOM = re.compile(r"^blip_room\(([\w/]+)(?:\s+DEPS\s+([\w/\s]+?))?(?:\s+LIBRARIES[^)]*)?\)", re.M)
RUNTIME_DEPS = {"abi", "collect", "machine", "ring", "unwind"}  # the runtime has a CMakeLists.txt of its own
BLOB_ROOMS = RUNTIME_DEPS | {"runtime"}
# Tests, what they share, and main programs: nothing includes them but each other.
HELPERS = re.compile(r"(_test|_fuzz|_bench)\.cc$|/test_\w+\.h$|main\.cc$")


# A string that holds a path below /proc, or the header that makes such paths.
PROC_PATH = re.compile(r'^[^/\n]*(?:/(?!/)[^/\n]*)*"[^"\n]*/proc/|proc/files/proc_directory\.h', re.M)
NO_TARGET = {  # blip's own descriptors, and what shells run
    "cli/output/instant_writer.cc",
    "cli/help/completion_bash.cc",
}


def rooms():
    allowed = {name: set((deps or "").split()) for name, deps in ROOM.findall((ROOT / "CMakeLists.txt").read_text())}
    allowed["runtime"] = set(RUNTIME_DEPS)
    return allowed


def room_of(path):
    return path.rsplit("/", 1)[0]


def includes():
    return {path.relative_to(SRC).as_posix(): INCLUDE.findall(path.read_text())
            for path in sorted(SRC.rglob("*")) if path.suffix in {".h", ".cc", ".S"}}


def blob_files(included):
    """The sources that src/runtime/CMakeLists.txt makes the blob of, and all that they include."""
    text = (SRC / "runtime/CMakeLists.txt").read_text()
    parts = re.search(r"set\(limited_parts([^)]*)\)", text)[1].split() + re.search(r"foreach\(part \$\{limited_parts\}([^)]*)\)", text)[1].split()
    todo = [f"runtime/{part}.cc" for part in parts] + ["runtime/entry.S"]
    found = set()
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            todo += included.get(file, [])
    return found


def cycle(allowed):
    """A room that can be reached from itself, or None."""
    below = {}

    def visit(room, path):
        if room in path:
            return room
        if room in below:
            return None
        found = next((c for dep in allowed.get(room, ()) if (c := visit(dep, path + [room]))), None)
        below[room] = True
        return found

    return next((c for room in allowed if (c := visit(room, []))), None)


def main():
    allowed, included = rooms(), includes()
    bad = []
    used = {room: set() for room in allowed}
    for file, names in included.items():
        room = room_of(file)
        if room not in allowed:
            bad.append(f"{file}: CMakeLists.txt has no blip_room({room})")
            continue
        helper = HELPERS.search("/" + file)
        may = allowed[room] | {room}
        if helper:
            area = room.split("/")[0]
            may = {"base"}.union(*(deps | {r} for r, deps in allowed.items() if r.split("/")[0] == area))
        if not helper and room.split("/")[0] != "proc" and file not in NO_TARGET and PROC_PATH.search((SRC / file).read_text()):
            bad.append(f"{file}: reads /proc, which only proc does")
        for name in names:
            if name not in included:
                bad.append(f"{file}: there is no {name}")
            elif room_of(name) not in may and not (helper and HELPERS.search("/" + name)):
                bad.append(f"{file}: may not include {name}")
            elif room_of(name) != room and (not helper or file.endswith("main.cc")):
                used[room].add(room_of(name))
    for file in sorted(blob_files(included)):
        if room_of(file) not in BLOB_ROOMS:
            bad.append(f"{file}: is part of the blob, but not of its rooms")
    for room, deps in sorted(allowed.items()):
        bad += [f"CMakeLists.txt: {room} lists {dep} and does not include it" for dep in sorted(deps - used[room])]
    if room := cycle(allowed):
        bad.append(f"CMakeLists.txt: {room} depends on itself")
    print("\n".join(bad) if bad else f"layers: fine ({len(allowed)} rooms)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
