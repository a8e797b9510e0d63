#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs blip with descriptors 0 to 2 that nobody expects, and checks that it lets go of its target:
random_outputs.py BLIP TARGET ROUNDS [SEED]

TARGET is a program of tests/targets that works all the time (hammer). Each round draws what blip's stdin, stdout and
stderr are (closed, full pipes, stopped terminals ...), what blip does and what ends it. Whatever they are, the target
must be as it was soon after the end: only blip may wait for a reader, and a second signal ends that.
"""
import fcntl
import os
import pathlib
import pty
import random
import signal
import socket
import subprocess
import sys
import termios
import time

SECONDS = 30  # nothing is expected to take so long: a blip that waits for a reader does it for ever


class Wrong(Exception):
    pass


def until(what, condition):
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise Wrong(f"{what}: not after {SECONDS} s")
        time.sleep(0.01)


def fill(fd):
    """Until there is no room for another byte."""
    os.set_blocking(fd, False)
    for size in (65536, 1):
        try:
            while True:
                os.write(fd, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(fd, True)


class Ends:
    """What a descriptor of blip is (`fd`, none: closed), and what must live as long as blip (`kept`)."""

    def __init__(self, fd=None, *kept, full=False, broken=False):
        self.fd, self.kept, self.full, self.broken = fd, kept, full, broken

    def close(self):
        for fd in {self.fd, *self.kept} - {None}:
            os.close(fd)


def pipe(is_full=False, unread=False):
    reader, writer = os.pipe()
    if is_full:
        fill(writer)
    return Ends(writer, reader, full=is_full or unread)


def left_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return Ends(writer)


def unread_socket(is_full):
    reader, writer = (s.detach() for s in socket.socketpair())
    if is_full:
        fill(writer)
    return Ends(writer, reader, full=True)


def terminal(is_stopped):
    master, slave = pty.openpty()
    if is_stopped:
        termios.tcflow(slave, termios.TCOOFF)
    else:
        fill(slave)
    return Ends(slave, master, full=True)


def device(path, flags=os.O_RDWR, broken=False):
    return Ends(os.open(path, flags), broken=broken)


KINDS = {
    "closed": lambda: Ends(broken=True),
    "null": lambda: device("/dev/null"),
    "read-only": lambda: device("/dev/null", os.O_RDONLY, broken=True),
    "no room": lambda: device("/dev/full", broken=True),
    "file": lambda: device("output", os.O_RDWR | os.O_CREAT),
    "unread pipe": lambda: pipe(unread=True),
    "full pipe": lambda: pipe(is_full=True),
    "pipe without a reader": left_pipe,
    "unread socket": lambda: unread_socket(False),
    "full socket": lambda: unread_socket(True),
    "stopped terminal": lambda: terminal(True),
    "full terminal": lambda: terminal(False),
}
VERBS = {
    "trace": ["trace", "--function", "tiny_*"],
    "trace --json": ["trace", "--json", "--function", "tiny_*", "--context", "regs"],
    "trace -v": ["trace", "-v", "--function", "tiny_*", "--lifecycle"],
    "record": ["record", "-v", "-o", "t", "--function", "tiny_*"],
    "record --return": ["record", "-o", "t", "--return", "tiny_*"],
    "count": ["count", "--function", "tiny_*"],
}
ENDS = ["duration", "INT", "TERM", "HUP", "max-events", "target"]


def maps_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/maps").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def text_of(pid, program):
    """The program's code as it is in memory."""
    for line in maps_of(pid).splitlines():
        words = line.split()
        if "x" in words[1] and words[-1] == program:
            begin, end = (int(a, 16) for a in words[0].split("-"))
            with open(f"/proc/{pid}/mem", "rb") as memory:
                memory.seek(begin)
                return memory.read(end - begin)
    return b""


def start_blip(command, ends):
    def take():
        # Out of the way first: the numbers they are to have may be in use.
        high = [e.fd if e.fd is None else fcntl.fcntl(e.fd, fcntl.F_DUPFD, 50) for e in ends]
        for number, fd in enumerate(high):
            os.close(number) if fd is None else os.dup2(fd, number)
        os.closerange(3, 100)
    return subprocess.Popen(command, preexec_fn=take, close_fds=False)


def end_blip(blip, how, target):
    if how in ("INT", "TERM", "HUP"):
        blip.send_signal(getattr(signal, "SIG" + how))
    elif how == "target":
        target.stdin.close()
        until("the target's end", lambda: target.poll() is not None)


def command_of(verb, how, pid, blip):
    limits = {"duration": ["--duration", "300ms"], "max-events": ["--max-events", "5000"]}
    if verb == "count" and how == "max-events":
        how = "duration"
    return [blip, *VERBS[verb], "-p", str(pid), *limits.get(how, [])]


def play(blip, program, verb, how, kinds):
    subprocess.run(["rm", "-rf", "t", "output"], check=True)
    target = subprocess.Popen([program, "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    target.stdout.readline()
    before = text_of(target.pid, program)
    ends = [KINDS[kind]() for kind in kinds]
    tracer = start_blip(command_of(verb, how, target.pid, blip), ends)
    try:
        # With such descriptors there may be nothing to trace for: it may end at once.
        until("probes", lambda: "memfd:blip" in maps_of(target.pid) or tracer.poll() is not None)
        time.sleep(0.1)
        end_blip(tracer, how, target)
        if target.poll() is None:
            until("the target is left", lambda: "memfd:blip" not in maps_of(target.pid) and
                  text_of(target.pid, program) == before)
        if any(e.full for e in ends[1:]):
            time.sleep(0.2)
            tracer.send_signal(signal.SIGTERM)
        until("blip's end", lambda: tracer.poll() is not None)
        # A target may end before all probes are in.
        if tracer.returncode not in (0, 1) or (tracer.returncode == 1 and not ends[1].broken and how != "target"):
            raise Wrong(f"blip's exit code is {tracer.returncode}")
        if target.poll() is None:
            target.stdin.close()
        if target.wait(SECONDS) != 0:
            raise Wrong(f"the target's exit code is {target.returncode}")
    finally:
        for process in (tracer, target):
            if process.poll() is None:
                process.kill()
                process.wait()
        for e in ends:
            e.close()


def main():
    blip, program, rounds = sys.argv[1], os.path.realpath(sys.argv[2]), int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    failed = 0
    for number in range(rounds):
        verb, how = draw.choice(list(VERBS)), draw.choice(ENDS)
        kinds = [draw.choice(list(KINDS)) for _ in range(3)]
        name = f"round {number}: {verb}, ended by {how}; stdin, stdout, stderr: {', '.join(kinds)}"
        try:
            play(blip, program, verb, how, kinds)
        except Wrong as wrong:
            print(f"{name}: {wrong}", flush=True)
            failed += 1
    print(f"{rounds} rounds, {failed} wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
