# SPDX-License-Identifier: MIT
"""Runs inside gdb: the stacks at each hit of a function, outermost last, as "FILE+0xOFFSET" of every frame that is one on the
stack (none of those that were inlined, or that gdb concludes from tail calls). Environment: FUNCTION, HITS, OUT."""
import json
import os

import gdb

DEPTH = 140


def bases():
    """{path: first address} of what is mapped."""
    found = {}
    for line in gdb.execute("info proc mappings", to_string=True).splitlines():
        words = line.split()
        if len(words) >= 5 and words[0].startswith("0x") and words[-1].startswith(("/", "[")):
            found.setdefault(words[-1], int(words[0], 16))
    return found


def place(pc, where):
    path = gdb.current_progspace().solib_name(pc) or gdb.current_progspace().filename
    path = os.path.realpath(path)
    base = where.get(path)
    return f"{os.path.basename(path)}+{pc - base:#x}" if base is not None else f"{pc:#x}"


def stack(where):
    frames, frame = [], gdb.newest_frame()
    while frame is not None and frame.is_valid() and len(frames) < DEPTH:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME) and frame.pc() != 0:
            frames.append(place(frame.pc(), where))
        try:
            frame = frame.older()
        except gdb.error:
            break
    return frames


def main():
    for command in ("set pagination off", "set confirm off", "set breakpoint pending on", "set backtrace past-main on",
                    "set backtrace past-entry on", "set debuginfod enabled off", "handle SIGUSR2 nostop noprint pass",
                    f"break *{os.environ['FUNCTION']}", "run"):
        gdb.execute(command, to_string=True)
    stacks = []
    while len(stacks) < int(os.environ["HITS"]) and gdb.selected_thread():
        stacks.append(stack(bases()))
        try:
            gdb.execute("continue", to_string=True)
        except gdb.error:
            break
    with open(os.environ["OUT"], "w") as out:
        json.dump(stacks, out)
    gdb.execute("kill" if gdb.selected_thread() else "show version", to_string=True)


main()
