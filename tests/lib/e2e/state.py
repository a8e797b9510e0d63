# SPDX-License-Identifier: MIT
"""What others can see of a process. Taken before blip attaches and after it has gone, the two must be equal.

Parts: maps (merged, with permissions; heap and stack may grow by the target's own doing), text (every executable file
mapping against its file), fds, threads (with signal masks, tracer, seccomp), left (anything of blip's).
"""
import os
import re

PARTS = ("maps", "text", "fds", "threads", "left")
THREAD_LINES = ("Name", "SigBlk", "SigIgn", "SigCgt", "TracerPid", "Seccomp", "NoNewPrivs")
MAP = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) (\S+) (\d+)\s*(.*)")


def read_maps(pid):
    """[(start, end, perms, offset, inode, path)], adjacent ones with the same attributes merged."""
    merged = []
    with open(f"/proc/{pid}/maps") as file:
        for line in file:
            start, end, perms, offset, _, inode, path = MAP.match(line).groups()
            if path == "[uprobes]":  # the kernel's own, from the oracle
                continue
            start, end, offset, inode = int(start, 16), int(end, 16), int(offset, 16), int(inode)
            if merged:
                s, e, p, o, i, n = merged[-1]
                if e == start and (p, i, n) == (perms, inode, path) and (not inode or o + e - s == offset):
                    merged[-1] = (s, end, p, o, i, n)
                    continue
            merged.append((start, end, perms, offset, inode, path))
    return merged


def _show(m):
    start, end, perms, offset, inode, path = m
    low = "..." if path == "[stack]" else f"{start:x}"
    high = "..." if path == "[heap]" else f"{end:x}"
    return f"{low}-{high} {perms} {offset:x} {inode} {path.removesuffix(' (deleted)')}"


def _file_behind(pid, path, inode):
    """The mapped file, found as we or as the process (in its own root) would; None if it is gone."""
    for candidate in (path, f"/proc/{pid}/root{path}", f"/proc/{pid}/exe"):
        if os.path.isfile(candidate) and os.stat(candidate).st_ino == inode:
            return candidate
    return None


def _text_differences(pid, maps):
    """Bytes of executable file mappings that differ from the file: ['libc.so.6+0x1234: file .., memory ..']."""
    differences = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for start, end, perms, offset, inode, path in maps:
            # What the program may write to itself need not equal its file.
            file_path = _file_behind(pid, path, inode) if "x" in perms and "w" not in perms and inode else None
            if not file_path:
                continue
            with open(file_path, "rb") as file:
                file.seek(offset)
                expected = file.read(end - start)
            mem.seek(start)
            actual = mem.read(len(expected))
            if actual == expected:
                continue
            at = next(i for i, (a, b) in enumerate(zip(actual, expected)) if a != b)
            count = sum(a != b for a, b in zip(actual, expected))
            differences.append(f"{os.path.basename(path)}+{offset + at:#x}: {count} bytes differ, first: file "
                               f"{expected[at:at + 8].hex()}, memory {actual[at:at + 8].hex()}")
    return differences


def _fds(pid):
    result = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}") as info:
                flags = next((line.split()[1] for line in info if line.startswith("flags:")), "")
            result[int(fd)] = f"{os.readlink(f'/proc/{pid}/fd/{fd}')} flags {flags}"
        except FileNotFoundError:
            continue
    return result


def _threads(pid):
    result = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/status") as status:
                lines = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
        except (FileNotFoundError, ProcessLookupError):
            continue
        result[int(tid)] = {key: lines.get(key) for key in THREAD_LINES}
    return result


def _left(pid, maps):
    return [_show(m) for m in maps if os.path.basename(m[5]).startswith(("memfd:blip-", "[anon:blip", "blip-"))]


def snapshot(pid, loose=False):
    """loose: for programs that map and unmap by themselves, only executable mappings count."""
    maps = read_maps(pid)
    return {
        "maps": [_show(m) for m in maps if not loose or "x" in m[2]],
        "text": _text_differences(pid, maps),
        "fds": _fds(pid),
        "threads": _threads(pid),
        "left": _left(pid, maps),
    }


def differences(before, after, parts=PARTS):
    """Lines that say what changed; empty when nothing did. Text must equal the file, whatever it was before."""
    result = [f"text: {line}" for line in after["text"]] if "text" in parts else []
    for part in parts:
        old, new = before[part], after[part]
        if part == "text" or old == new:
            continue
        if isinstance(old, dict):
            for key in sorted(set(old) | set(new)):
                if old.get(key) != new.get(key):
                    result.append(f"{part} {key}: was {old.get(key)}, is {new.get(key)}")
        else:
            result += [f"{part}: gone: {line}" for line in old if line not in new]
            result += [f"{part}: new: {line}" for line in new if line not in old]
    return result


def untouched(pid):
    """Nothing of blip is in the process: no mapping, and its text is its files' text."""
    maps = read_maps(pid)
    return not _left(pid, maps) and not _text_differences(pid, maps)


def is_alive(pid):
    return state_letter(pid) not in ("", "Z", "X")


def state_letter(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
