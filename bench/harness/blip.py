# SPDX-License-Identifier: MIT
"""One blip attached to a running process, and what its stderr lines say (DESIGN, section 5)."""
import os
import re
import signal
import subprocess
import time

from .scope import end, wait_until

ARMED = re.compile(r"^blip: armed (\d+) probes? in ([\d.]+) ms \(target paused ([\d.]+) ms\)(?:, (\d+) refused)?", re.M)
SPLIT = re.compile(r"instrumentation ([\d.]+) ms, registration ([\d.]+) ms")
DETACHED = re.compile(r"detached in ([\d.]+) ms \(target paused ([\d.]+) ms\)")
SUMMARY = re.compile(r"^blip: (\d+) events?, (\d+) discarded, (\d+) skipped", re.M)

ARM_TIMEOUT = 30.0
END_TIMEOUT = 30.0


class BlipError(Exception):
    pass


def find(build):
    path = os.path.join(build, "blip")
    return path if os.access(path, os.X_OK) else None


def version(path):
    done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    return done.stdout.strip().split("\n")[0] or "unknown"


def has_verb(path, verb):
    done = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=10, check=False)
    return re.search(rf"^  {verb} ", done.stdout, re.M) is not None


def has_option(path, verb, option):
    done = subprocess.run([path, verb, "--help"], capture_output=True, text=True, timeout=10, check=False)
    return option in done.stdout


def peak_memory_mb(pid):
    """The most memory a living process has had, or None."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            found = re.search(r"VmHWM:\s+(\d+) kB", f.read())
    except OSError:
        return None
    return int(found[1]) / 1024 if found else None


class Blip:
    """Starts `blip VERB ARGS -p PID...` and returns once the probes are live."""

    def __init__(self, scope, verb, pids, args, verbose=False):
        self.path = find(scope.build)
        if not self.path:
            raise BlipError("blip is not built")
        self.trace = scope.path("trace") if verb == "record" else None
        self._stderr = scope.path("blip.err")
        self._stdout = scope.path("blip.out")
        argv = [self.path, verb] + (["-v"] if verbose else []) + list(args)
        for pid in [pids] if isinstance(pids, int) else pids:
            argv += ["-p", str(pid)]
        if self.trace:
            argv += ["-o", self.trace]
        with open(self._stdout, "wb") as out, open(self._stderr, "wb") as err:
            begin = time.monotonic()
            self.child = scope.spawn(argv, stdout=out, stderr=err)
        armed = wait_until(lambda: ARMED.search(self.stderr()) or self.child.poll() is not None, ARM_TIMEOUT)
        if armed is None or armed is True:
            status = end(self.child, signal.SIGINT)
            last = self.stderr().strip().split("\n")[-1] or "no message"
            raise BlipError(f"{verb} {' '.join(args)[:60]}: not armed, status {status}: {last}")
        self.wall_ms = (time.monotonic() - begin) * 1000
        self.probes = int(armed[1])
        self.armed_ms = float(armed[2])
        self.paused_ms = float(armed[3])
        self.refused = int(armed[4] or 0)

    def stderr(self):
        with open(self._stderr, encoding="utf-8", errors="replace") as f:
            return f.read()

    def stdout(self):
        with open(self._stdout, encoding="utf-8", errors="replace") as f:
            return f.read()

    def split_ms(self):
        """(instrumentation, registration) of the arming, or None if blip does not say."""
        found = SPLIT.search(self.stderr())
        return (float(found[1]), float(found[2])) if found else None

    def stop(self):
        """Ctrl-C; waits for the normal end. Afterwards events, discarded, skipped, detach_ms... are set."""
        begin = time.monotonic()
        self.memory_mb = peak_memory_mb(self.child.pid)
        status = end(self.child, signal.SIGINT, END_TIMEOUT)
        self.stop_wall_ms = (time.monotonic() - begin) * 1000
        text = self.stderr()
        summary = SUMMARY.search(text)
        if status != 0 or not summary:
            raise BlipError(f"ended with status {status}: {text.strip().split(chr(10))[-1]}")
        self.events, self.discarded, self.skipped = (int(g) for g in summary.groups())
        detached = DETACHED.search(text)
        self.detach_ms = float(detached[1]) if detached else None
        self.detach_paused_ms = float(detached[2]) if detached else None

    def hits(self, name):
        """Hits of a probe in the table of `blip count`."""
        for line in self.stdout().split("\n"):
            words = line.replace(",", "").split()
            if name in words:
                return next((int(w) for w in words if w.isdigit()), None)
        return None
