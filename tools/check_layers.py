#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when an include goes upward. A folder may include itself and the folders listed for it."""
import pathlib
import re
import sys

ALLOWED = {
    "abi": set(),
    "base": set(),
    "elf": {"base"},
    "collect": set(),
    "script": {"collect", "base"},
    "dwarf": {"script", "x86", "base"},
    "unwind": {"elf", "abi", "base"},
    "x86": {"base"},
    "proc": {"base"},
    "ctf": {"collect", "abi", "base"},
    "ring": {"abi", "base"},
    "runtime": {"abi", "ring", "unwind", "collect", "base"},
    "jit": {"collect", "script", "x86", "ring", "abi", "base", "runtime"},
    "probe": {"script", "proc", "elf", "x86", "jit", "ring", "runtime", "abi", "base"},
    "session": {"collect", "script", "probe", "unwind", "jit", "ring", "ctf", "elf", "dwarf", "proc", "x86", "abi", "base"},
    "cli": {"collect", "session", "ctf", "elf", "base"},
}
# Files of a folder that run in the target: they see only abi.
TARGET_SIDE = {"ring/writer.h": {"abi", "ring"}, "ring/system_calls.h": {"abi"}, "ring/own_memory.h": {"ring"}, "ring/readers.h": {"abi", "ring"}, "ring/shadow.h": {"abi", "ring"}, "ring/add_latency.h": {"abi", "ring"}}
TARGET_SIDE |= {f"unwind/{name}.h": {"abi", "unwind"} for name in ("find_rule", "walk", "intern")}
RUNTIME = ("runtime.cc", "monotonic.cc", "trap.cc", "trap.h", "enter_call.cc", "leave_call.cc", "returns_monotonic.cc", "measure_call.cc",
           "measure_monotonic.cc", "libraries.cc", "backtrace.cc", "collect.cc", "fetch.cc", "reserved.h", "entry.S")
TARGET_SIDE |= {f"runtime/{name}": {"abi", "ring", "unwind", "collect", "runtime"} for name in RUNTIME}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def main():
    src = pathlib.Path(__file__).resolve().parent.parent / "src"
    bad = []
    for path in sorted(src.rglob("*")):
        if path.suffix not in {".h", ".cc", ".S"}:
            continue
        rel = path.relative_to(src).as_posix()
        folder = rel.split("/")[0]
        if folder not in ALLOWED:
            bad.append(f"{rel}: folder '{folder}' is not in tools/check_layers.py")
            continue
        allowed = TARGET_SIDE.get(rel, ALLOWED[folder] | {folder})
        for include in INCLUDE.findall(path.read_text()):
            if include.split("/")[0] not in allowed:
                bad.append(f"{rel}: may not include {include}")
    print("\n".join(bad) if bad else "layers: fine")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
