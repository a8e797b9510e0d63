# SPDX-License-Identifier: MIT
"""Threads of a child process, stopped at an instruction: ptrace and the debug registers, so that not a byte of the code changes."""
import ctypes
import os
import time

SINGLESTEP, CONT, PEEKUSER, POKEUSER, DETACH, SEIZE, INTERRUPT = 9, 7, 3, 6, 17, 0x4206, 0x4207
RIP_OFFSET = 16 * 8       # in struct user
DEBUG_REGISTERS = 848     # u_debugreg of struct user
ENABLE_FIRST = 1          # DR7: DR0 is the address of an instruction, in this thread
WALL = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_ulong, ctypes.c_ulong]


def ptrace(request, tid, address=0, data=0):
    ctypes.set_errno(0)
    result = _libc.ptrace(request, tid, address, data)
    if result == -1 and ctypes.get_errno() != 0:
        raise OSError(ctypes.get_errno(), f"ptrace({request}, {tid}): {os.strerror(ctypes.get_errno())}")
    return result


class Thread:
    """One thread, traced and stopped between the calls here."""

    def __init__(self, tid):
        self.tid = tid
        ptrace(SEIZE, tid)
        self._interrupt()

    def _interrupt(self):
        ptrace(INTERRUPT, self.tid)
        os.waitpid(self.tid, WALL)

    def address(self):
        return ptrace(PEEKUSER, self.tid, RIP_OFFSET)  # libc's ptrace returns the word

    def step(self):
        ptrace(SINGLESTEP, self.tid)
        os.waitpid(self.tid, WALL)
        return self.address()

    def _break_at(self, address):
        ptrace(POKEUSER, self.tid, DEBUG_REGISTERS, address)
        ptrace(POKEUSER, self.tid, DEBUG_REGISTERS + 7 * 8, ENABLE_FIRST if address else 0)

    def run_to(self, address, seconds):
        """Lets it run until it is about to execute the instruction there; false if it does not come by."""
        self._break_at(address)
        ptrace(CONT, self.tid)
        end = time.monotonic() + seconds
        reached = False
        while not reached and time.monotonic() < end:
            reached = os.waitpid(self.tid, WALL | os.WNOHANG)[0] == self.tid
        if not reached:
            self._interrupt()
        self._break_at(0)
        return self.address() == address

    def migrate(self):
        """To the next CPU, if there is one."""
        cpus = sorted(os.sched_getaffinity(0))
        now = os.sched_getaffinity(self.tid)
        os.sched_setaffinity(self.tid, {cpus[(cpus.index(min(now)) + 1) % len(cpus)]})

    def release(self):
        ptrace(DETACH, self.tid)
