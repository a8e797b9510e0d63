#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions that pads run per hit, for six fixed commands.

    tools/pad_instructions.py --target build/targets/loop_calls --blip build/blip
    tools/pad_instructions.py --target build/targets/loop_calls --blip build/blip --before OLD/blip
    tools/pad_instructions.py --target build/targets/loop_calls --blip build/blip --show string

blip arms a program, then this script steps it instruction by instruction through some calls and counts those that lie in
blip's code: pads, the runtime blob, and the displaced instructions of the program. Two builds on one machine take the same
path, so their numbers can be compared. The exit code is 1 if they differ by more than --most.

A step is a stop, and a stop restarts a restartable sequence. So the script clears rseq_cs of the thread before it lets
the thread run on: the kernel then finds no sequence to restart, and the pad goes on as it does at full speed.
"""
import argparse
import collections
import ctypes
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile

# ---- what is measured: a name, and what blip is asked for; {middle} is an instruction inside of the function ----

COMMANDS = {
    "entry": ["record", "--function", "work"],
    "entry + rdi": ["record", "--function", "work", "--context", "reg:rdi"],
    "string": ["record", "--function", "work", "--capture", "s"],
    "return": ["record", "--return", "work"],
    "count": ["count", "--function", "work"],
    "mid-function": ["record", "--probe", "work+{middle}"],
}
FIRST_CALLS = 10  # they may fill caches; they are not looked at
CALLS = 30

# ---- ptrace(2) ----

PTRACE_PEEKUSER, PTRACE_POKEDATA, PTRACE_SINGLESTEP, PTRACE_DETACH = 3, 5, 9, 17
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_GET_RSEQ_CONFIGURATION = 0x4206, 0x4207, 0x420F
RIP = 16 * 8  # in struct user
RSEQ_CS = 8  # in struct rseq
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, pid, address=0, data=0):
    ctypes.set_errno(0)
    result = libc.ptrace(request, pid, address, data)
    if ctypes.get_errno() != 0:
        raise OSError(ctypes.get_errno(), f"ptrace request {request:#x}: {os.strerror(ctypes.get_errno())}")
    return result & 0xFFFF_FFFF_FFFF_FFFF


class Stepper:
    """The only thread of a process, stopped; steps it while it lives."""

    def __init__(self, pid, areas):
        self.pid, self.areas = pid, areas
        ptrace(PTRACE_SEIZE, pid)
        ptrace(PTRACE_INTERRUPT, pid)
        os.waitpid(pid, 0)
        config = ctypes.create_string_buffer(24)
        ptrace(PTRACE_GET_RSEQ_CONFIGURATION, pid, len(config), ctypes.addressof(config))
        self.rseq = struct.unpack_from("Q", config)[0]

    def step(self):
        """Runs one instruction; its successor's address. None once the process is gone."""
        ptrace(PTRACE_SINGLESTEP, self.pid)
        _, status = os.waitpid(self.pid, 0)
        if not os.WIFSTOPPED(status):
            return None
        rip = ptrace(PTRACE_PEEKUSER, self.pid, RIP)
        if self.rseq and self.is_in_pads(rip):
            ptrace(PTRACE_POKEDATA, self.pid, self.rseq + RSEQ_CS, 0)
        return rip

    def is_in_pads(self, address):
        return any(begin <= address < end for begin, end in self.areas)

    def detach(self):
        ptrace(PTRACE_DETACH, self.pid)


# ---- from addresses to calls ----

def calls_of(path, entry, is_in_pads):
    """Cuts a path, addresses in the order of execution, into calls; of each, the addresses that are in pads."""
    calls = []
    for address in path:
        if address == entry:
            calls.append([])
        elif calls and is_in_pads(address):
            calls[-1].append(address)
    return calls[:-1]  # the last one may not have come to its end


def usual_call(calls):
    """The path that most calls took, of those that took the most frequent number of instructions."""
    calls = calls[FIRST_CALLS:]
    length = collections.Counter(map(len, calls)).most_common(1)[0][0]
    return collections.Counter(tuple(call) for call in calls if len(call) == length).most_common(1)[0][0]


# ---- one command ----

def pad_areas(pid):
    areas = []
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            if "blip-pads" in line and " r-x" in line:
                areas.append(tuple(int(n, 16) for n in line.split()[0].split("-")))
    return areas


def middle_of(target):
    """The offset of an instruction in work() that is not its first and that nothing jumps to."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--disassemble=work", target], check=True,
                          capture_output=True, text=True).stdout
    begin = int(re.search(r"^([0-9a-f]+) <work>:", text, re.M)[1], 16)
    lines = re.findall(r"^\s*([0-9a-f]+):\t(.*)", text, re.M)
    aims = {int(m[1], 16) for _, code in lines if (m := re.match(r"j\w+\s+([0-9a-f]+)", code))}
    inner = [int(at, 16) for at, code in lines[1:] if not re.match(r"j|ret|call|nop", code)]
    return next(at - begin for at in inner if at not in aims)


def listing(pid, path):
    """The instructions of a path, a line each."""
    starts = sorted(set(path))
    text = {}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory, tempfile.NamedTemporaryFile() as file:
        for start in starts:
            memory.seek(start)
            file.seek(0)
            file.write(memory.read(16))
            file.flush()
            out = subprocess.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", f"--adjust-vma={start:#x}", file.name],
                                 check=True, capture_output=True, text=True).stdout
            text[start] = re.search(rf"^\s*{start:x}:\t[^\t]*\t(.*)", out, re.M)[1].strip()
    return [f"{at:#x}  {text[at]}" for at in path]


def measure(blip, target, words, show=False):
    """How many instructions of blip's run per call of work(), and their listing if it is wanted."""
    with subprocess.Popen([target, str(CALLS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as traced, \
            tempfile.TemporaryDirectory() as place:
        info = traced.stdout.readline().decode()
        entry = int(re.search(r"work=0x([0-9a-f]+)", info)[1], 16)
        traced.stdout.readline()  # ready
        words = [word.format(middle=middle_of(target)) for word in words]
        output = ["-o", f"{place}/t"] if words[0] == "record" else []
        command = [blip, words[0], "-p", str(traced.pid), *words[1:], *output]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as tracer:
            told = tracer.stderr.readline()
            while told and "armed" not in told:
                told = tracer.stderr.readline()
            if not told:
                traced.kill()
                raise RuntimeError(f"{' '.join(command)} armed nothing")
            stepper = Stepper(traced.pid, pad_areas(traced.pid))
            path, entries = [], 0
            traced.stdin.write(b"\n")
            traced.stdin.flush()
            while entries < CALLS and (rip := stepper.step()) is not None:
                path.append(rip)
                entries += rip == entry
            call = usual_call(calls_of(path, entry, stepper.is_in_pads))
            text = listing(traced.pid, call) if show else []
            stepper.detach()
            tracer.send_signal(signal.SIGINT)
            tracer.stderr.read()
        traced.stdin.close()
        traced.stdout.read()
    return len(call), text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", required=True, help="the program loop_calls of the tests")
    parser.add_argument("--blip", required=True)
    parser.add_argument("--before", help="another blip, to be compared")
    parser.add_argument("--most", type=int, default=2, help="how many more or less there may be (%(default)s)")
    parser.add_argument("--show", metavar="NAME", choices=COMMANDS, help="print the instructions of one command instead")
    options = parser.parse_args()
    if options.show:
        print(*measure(options.blip, options.target, COMMANDS[options.show], True)[1], sep="\n")
        return 0
    too_far = False
    if options.before:
        print(f"{'command':14}{'before':>8}{'now':>8}{'difference':>12}")
    for name, words in COMMANDS.items():
        now = measure(options.blip, options.target, words)[0]
        if not options.before:
            print(f"{name:14}{now:8}")
            continue
        before = measure(options.before, options.target, words)[0]
        too_far |= abs(now - before) > options.most
        print(f"{name:14}{before:8}{now:8}{now - before:+12}")
    return 1 if too_far else 0


if __name__ == "__main__":
    sys.exit(main())
