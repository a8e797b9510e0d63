# SPDX-License-Identifier: MIT
"""Owns every process and directory of a benchmark run; leaving the scope ends and removes them."""
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time


class Scope(contextlib.ExitStack):
    def __init__(self, build):
        super().__init__()
        self.build = build
        self.dir = tempfile.mkdtemp(prefix="bench-run-", dir=build)
        self.callback(shutil.rmtree, self.dir, ignore_errors=True)
        self._names = 0

    def path(self, name):
        """A fresh path in the run's own directory."""
        self._names += 1
        return os.path.join(self.dir, f"{self._names:03d}-{name}")

    def program(self, name):
        return os.path.join(self.build, "bench", name)

    def spawn(self, argv, **options):
        """Starts a child that is ended with the scope, if not before."""
        options.setdefault("stdin", subprocess.DEVNULL)
        child = subprocess.Popen(argv, **options)
        self.callback(end, child)
        return child

    def remove(self, path):
        shutil.rmtree(path, ignore_errors=True)


def end(child, first=signal.SIGTERM, patience=5.0):
    """Ends a child by its pid: asks, waits, kills."""
    for stream in (child.stdin, child.stdout):
        if stream:
            with contextlib.suppress(OSError):
                stream.close()
    if child.poll() is None:
        child.send_signal(first)
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    return child.returncode


def run_group(argv, timeout, **options):
    """subprocess.run, captured, in a process group of its own: when the time is over, all of it is killed."""
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True, **options)
    try:
        out, err = child.communicate(timeout=timeout)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise
    return subprocess.CompletedProcess(argv, child.returncode, out, err)


def wait_until(condition, seconds, step=0.001):
    """Polls until `condition()` is true; returns its value, or None when the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            return None
        time.sleep(step)


def cpu_seconds(pid):
    """CPU time a living process has used, in nanosecond resolution (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


def directory_size(path):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names)
