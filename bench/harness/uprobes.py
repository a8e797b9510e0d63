# SPDX-License-Identifier: MIT
"""Kernel uprobe events recorded by perf: one event of many probes, so that it comes and goes at once."""
import contextlib
import os
import select
import shutil
import signal
import struct

from . import elf
from .namespace import TRACEFS
from .scope import end, wait_until

ATTACH_TIMEOUT, END_TIMEOUT = 60.0, 60.0
RING_SIZE = "8M"
DATA_SECTION = 40  # in the header of perf.data: offset and size of the records
RECORD_LOST, RECORD_SAMPLE = 2, 9


class UprobeError(Exception):
    pass


def unavailable():
    if os.geteuid() != 0:
        return "uprobe events need root"
    if not shutil.which("perf"):
        return "perf is not installed (package linux-perf)"
    if not os.path.exists(os.path.join(TRACEFS, "uprobe_events")):
        return f"{TRACEFS} is not there"
    return None


class Event:
    """`GROUP:NAME` on functions of a file; removed with the scope. All probes carry the same argument, or none."""
    _made = 0

    def __init__(self, scope, path, functions, argument=""):
        Event._made += 1
        self.name = f"blip_bench_{os.getpid()}/event{Event._made}"
        self.path = os.path.realpath(path)
        self._file = elf.Elf(self.path)
        self.functions = list(functions)
        scope.callback(self.remove)
        try:
            self._write(f"p:{self.name} {self.path}:{self._file.offset(f):#x} {argument}" for f in self.functions)
        except (OSError, KeyError) as e:
            raise UprobeError(f"uprobe events of {self.path}: {e}") from e

    def remove(self):
        try:
            self._write([f"-:{self.name}"])
        except OSError:
            pass  # never made

    @staticmethod
    def _write(commands):
        """One write per command; appended, because opening the file in another way removes everybody's events."""
        fd = os.open(os.path.join(TRACEFS, "uprobe_events"), os.O_WRONLY | os.O_APPEND)
        try:
            for command in commands:
                os.write(fd, command.encode() + b"\n")
        finally:
            os.close(fd)


class PerfRecord:
    """`perf record` of an event, in processes or (no pids) wherever it is hit; returns when it records.

    In a process (-p) the kernel puts no probe into other processes that map the file; but of threads that such a process
    starts later some are not recorded (seen with 6.18).
    """

    def __init__(self, scope, event, pids=()):
        self.output = scope.path("perf.data")
        self._log = scope.path("perf.log")
        where = ["-p", ",".join(map(str, pids))] if pids else ["-a"]
        control = scope.path("perf.control")
        for end_of in (control, control + ".ack"):
            os.mkfifo(end_of)
        argv = ["perf", "record", "-B", "-N", "-m", RING_SIZE, "-e", event.name.replace("/", ":"), "-o", self.output,
                "-D", "-1", f"--control=fifo:{control},{control}.ack"]
        with open(self._log, "wb") as log:
            self.child = scope.spawn(argv + where, stdout=log, stderr=log)
        if not self._enable(control):
            end(self.child, signal.SIGINT)
            said = [line for line in self.log().split("\n") if line.strip()] or ["no message"]
            raise UprobeError("perf record did not start: " + next((x for x in said if "returned" in x), said[-1]))

    def _enable(self, control):
        """Asks perf to begin and waits for its word that it has."""
        ask, answer = (os.open(path, os.O_RDWR | os.O_NONBLOCK) for path in (control, control + ".ack"))
        try:
            os.write(ask, b"enable\n")
            if not wait_until(lambda: self.child.poll() is not None or select.select([answer], [], [], 0)[0],
                              ATTACH_TIMEOUT, 0.01) or self.child.poll() is not None:
                return False
            return os.read(answer, 64).startswith(b"ack")
        finally:
            os.close(ask)
            os.close(answer)

    def log(self):
        with open(self._log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def stop(self):
        if self.child.poll() is None:
            end(self.child, signal.SIGINT, END_TIMEOUT)

    def counts(self):
        """(samples, lost) in the file: its records are walked, perf report stumbles over some."""
        samples = lost = 0
        with open(self.output, "rb") as f:
            data = f.read()
        at, size = struct.unpack_from("<QQ", data, DATA_SECTION)
        stop = min(at + size, len(data))
        while at + 8 <= stop:
            kind, _, length = struct.unpack_from("<IHH", data, at)
            if length < 8:
                break
            samples += kind == RECORD_SAMPLE
            if kind == RECORD_LOST:
                lost += struct.unpack_from("<Q", data, at + 16)[0]
            at += length
        return samples, lost

    def remove(self):
        with contextlib.suppress(OSError):
            os.unlink(self.output)
