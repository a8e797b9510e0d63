# SPDX-License-Identifier: MIT
"""What every scenario works with: targets that check themselves, blips that may be killed, a deadline, a random source."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from e2e import state  # noqa: E402

WAIT_S = 60  # longer than anything takes on the busiest machine


class Wrong(Exception):
    """blip has harmed a target, lost something, or left something."""


class Target:
    """One of tests/targets, which checks its own answers and exits 0 only if all were right."""

    def __init__(self, stage, name, *args, environment=None):
        self.popen = subprocess.Popen([str(stage.targets / name), *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      env={**os.environ, **(environment or {})})
        self.name, self.pid = name, self.popen.pid
        self.feeder, self.stopping = None, False
        while (line := self.popen.stdout.readline()) != b"ready\n":
            if not line:
                raise Wrong(f"{name} does not start")

    def go(self):
        self.popen.stdin.write(b"go\n")
        self.popen.stdin.flush()

    def keep_going(self):
        """One round after the other, until finish()."""
        def feed():
            while not self.stopping and self.popen.poll() is None:
                try:
                    self.go()
                except BrokenPipeError:
                    return
                while self.popen.stdout.readline() not in (b"done\n", b""):
                    pass

        self.feeder = threading.Thread(target=feed, daemon=True)
        self.feeder.start()

    def check_alive(self, when):
        if self.popen.poll() is not None:
            raise Wrong(f"{self.name} ended ({self.popen.returncode}) {when}: {self.popen.stdout.read()[-300:]!r}")

    def check_untouched(self, when):
        self.check_alive(when)
        if not state.untouched(self.pid):
            raise Wrong(f"{self.name} has something of blip's in it {when}")

    def finish(self):
        """The end of its input: it stops its threads, which tell what they found wrong."""
        self.stopping = True
        if self.feeder:
            self.feeder.join(WAIT_S)
        self.popen.stdin.close()
        code = self.popen.wait(WAIT_S)
        if code != 0:
            raise Wrong(f"{self.name} exits {code}: {self.popen.stdout.read()[-300:]!r}")

    def kill(self):
        self.popen.kill()
        self.popen.wait()


class Stage:
    def __init__(self, build, seconds, seed):
        self.blip, self.cycler, self.targets = build / "blip", build / "cycler", build / "targets"
        self.deadline = time.monotonic() + seconds
        self.random = random.Random(seed)
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="torture."))
        self.scratch.chmod(0o700)
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def remaining(self):
        return self.deadline - time.monotonic()

    def over(self):
        return self.remaining() <= 0

    def target(self, name, *args, **options):
        target = Target(self, name, *args, **options)
        self.started.append(target)
        return target

    def start_blip(self, *words):
        """blip_said() is its stderr."""
        with open(self.scratch / "blip.err", "wb") as err:
            return subprocess.Popen([str(self.blip), *map(str, words)], stdout=subprocess.DEVNULL, stderr=err)

    def run_blip(self, *words):
        """Must succeed."""
        process = self.start_blip(*words)
        code = process.wait(WAIT_S)
        if code != 0:
            raise Wrong(f"blip {' '.join(map(str, words))} exits {code}: {self.blip_said()}")

    def blip_said(self):
        return (self.scratch / "blip.err").read_text(errors="replace")[-2000:]

    def wait_for_armed(self, process):
        end = time.monotonic() + WAIT_S
        while "blip: armed" not in self.blip_said():
            if process.poll() is not None or time.monotonic() > end:
                raise Wrong(f"blip does not arm: {self.blip_said()}")
            time.sleep(0.005)

    def directory(self):
        return pathlib.Path(tempfile.mkdtemp(prefix="t.", dir=self.scratch))

    def tidy(self):
        """Traces that have been looked at go."""
        for path in self.scratch.glob("t.*"):
            shutil.rmtree(path, ignore_errors=True)


def kill_after(process, seconds):
    """SIGKILL after a while; true if it was still running."""
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
