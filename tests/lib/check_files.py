#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what strace saw of a blip (-f -y, calls that name files) and says what it made, wrote to or ran that it should not.

usage: check_files.py LOG OUTPUT-DIRECTORY TARGET-PID
Allowed: new files of the output directory, made by O_CREAT|O_EXCL|O_NOFOLLOW with mode 0600 in a directory made with 0700; memory and
control files of the target and of blip itself under /proc; the terminal and /dev/null.
"""
import pathlib
import re
import sys

OPEN = re.compile(r'(?:open|openat)\((?:([^,"]+), )?"((?:[^"\\]|\\.)*)", ([A-Z_|0-9]+)(?:, (0\d+))?\)\s+=\s+(-?\d+)')
MAKE = re.compile(r'(mkdir|mkdirat)\((?:[^,"]+, )?"([^"]*)", (0\d+)\)\s+=\s+0')
MOVE = re.compile(r'(?:renameat2?|rename|link|linkat|symlink|symlinkat)\((.*)\)\s+=\s+0')


def problems(text, output, pid):
    writes = 0
    for where, path, flags, mode, result in OPEN.findall(text):
        if result.startswith("-") or not re.search("O_WRONLY|O_RDWR|O_CREAT", flags):
            continue
        writes += 1
        full = path if path.startswith("/") else re.sub(r"^.*?<(.*)>$", r"\1", where) + "/" + path
        if re.match(rf"/proc/({pid}|self|\d+)/(task/\d+/)?(mem|fd/\d+|map_files/)", full) or full in ("/dev/null", "/dev/tty"):
            continue
        inside = pathlib.Path(full).parent == output
        if not (inside and {"O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC"} <= set(flags.split("|")) and mode == "0600"):
            yield f"opens {full} with {flags} {mode}"
    if not writes:
        yield "nothing was written: is this the log of a recording?"
    for _, path, mode in MAKE.findall(text):
        if mode != "0700":
            yield f"makes the directory {path} with {mode}"
    for words in MOVE.findall(text):
        if any(f"<{output}>" not in where and not path.startswith(str(output)) for where, path in
               re.findall(r'(?:([A-Z_0-9]+(?:<[^>]*>)?), )?"([^"]*)"', words)):
            yield f"moves or links {words}"
    if re.findall(r"execve\(", text)[1:]:
        yield "runs another program"


def main():
    log, output, pid = sys.argv[1:]
    found = list(problems(pathlib.Path(log).read_text(errors="replace"), pathlib.Path(output).resolve(), pid))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
