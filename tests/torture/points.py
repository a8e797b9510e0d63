# SPDX-License-Identifier: MIT
"""Producers at every instruction of their way into the rings: killed there, held there for longer than the consumer waits, moved to
another CPU there, two at a time. The target is `published`, which tells how far each of its threads had come."""
import collections
import os
import re
import signal
import struct
import subprocess
import time

from published import check_published
from stage import WAIT_S, Wrong
from stepping import WALL, Thread

PAD_BYTES = 400
HOLD_S = 0.12            # the consumer leaves a slot behind after 0.1 s
COME_BY_S = 0.05         # each thread calls every 2 ms, if it is not starved
MAX_STEPS = 2000         # of one hit
VARIANTS = {"rseq": {}, "shared": {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}}


class Session:
    """blip records two threads of `published`, both of which are stopped."""

    def __init__(self, stage, variant):
        self.stage, self.file, self.directory = stage, stage.scratch / "progress", stage.directory()
        self.target = stage.target("published", self.file, 2, environment=VARIANTS[variant])
        self.blip = stage.start_blip("record", "-p", self.target.pid, "--function", "work", "--context", "reg:rdi", "--context", "tid",
                                     "-o", self.directory)
        stage.wait_for_armed(self.blip)
        self.target.go()
        self.threads = []

    def __enter__(self):
        self.threads = [Thread(tid) for tid in self._tids()]
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.kill()

    def find_points(self, variant):
        return self._pad_instructions() if variant == "rseq" else self._executed()

    def _tids(self):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            tids = [tid for tid, _ in struct.iter_unpack("QQ", self.file.read_bytes()) if tid]
            if len(tids) == 2:
                return tids
            time.sleep(0.001)
        raise Wrong("published does not start its threads")

    def _entry(self):
        program = os.readlink(f"/proc/{self.target.pid}/exe")
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        offset = int(re.search(r"^(\w+) \w work$", symbols, re.M).group(1), 16)
        with open(f"/proc/{self.target.pid}/maps", encoding="ascii") as maps:
            return next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(program)) + offset

    def _memory(self, address, size):
        with open(f"/proc/{self.target.pid}/mem", "rb") as memory:
            memory.seek(address)
            return memory.read(size)

    def _pad_instructions(self):
        """Where the jump at the entry leads, and what follows: stepping would never see a restartable sequence to its end."""
        entry = self._entry()
        jump = self._memory(entry, 5)
        if jump[0] != 0xe9:
            raise Wrong(f"work does not begin with a jump: {jump.hex()}")
        pad = entry + 5 + struct.unpack("<i", jump[1:])[0]
        code = self.stage.scratch / "pad"
        code.write_bytes(self._memory(pad, PAD_BYTES))
        listing = subprocess.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", f"--adjust-vma={pad:#x}", str(code)],
                                 capture_output=True, text=True, check=True).stdout
        return [int(address, 16) for address in re.findall(r"^\s*([0-9a-f]+):\t(?!.*\(bad\))", listing, re.M)]

    def _executed(self):
        """The instructions of one hit, from the jump to the way back."""
        entry, thread = self._entry(), self.threads[0]
        if not thread.run_to(entry, WAIT_S):
            raise Wrong("work is not called")
        points = []
        for _ in range(MAX_STEPS):
            address = thread.step()
            if entry < address < entry + 64:
                return list(dict.fromkeys(points))
            points.append(address)
        raise Wrong(f"a hit takes more than {MAX_STEPS} steps")

    def place(self, figures, *points):
        """Runs each thread to its point; one that does not come by is stopped where it is."""
        for thread, point in zip(self.threads, points):
            figures["reached"] += thread.run_to(point, COME_BY_S)

    def kill(self):
        os.kill(self.target.pid, signal.SIGKILL)
        for thread in self.threads:
            os.waitpid(thread.tid, WALL)
        self.target.popen.wait()

    def check(self):
        """blip has ended with the target. What the trace must hold is in the file."""
        if self.blip.wait(WAIT_S) != 0:
            raise Wrong(f"blip exits {self.blip.returncode}: {self.stage.blip_said()}")
        self.stage.started.remove(self.target)
        return check_published(self.directory, [self.file], self.stage.blip_said())


def kill(stage):
    """SIGKILL while two producers are at two instructions: every instruction once, beside a random other one."""
    figures, tried = collections.Counter(), {variant: 0 for variant in VARIANTS}
    while not stage.over():
        variant = min(tried, key=tried.get)
        with Session(stage, variant) as session:
            points = session.find_points(variant)
            session.place(figures, points[tried[variant] % len(points)], stage.random.choice(points))
            session.kill()
        figures["events"] += session.check()
        figures["kills"] += 1
        figures[f"{variant} points"] = len(points)
        tried[variant] += 1
        stage.tidy()
    return figures


def hold(stage):
    """Two producers are stopped at two instructions, for a moment or for longer than the watchdog, moved, and go on in either order."""
    figures = collections.Counter()
    while not stage.over():
        for variant in VARIANTS:
            with Session(stage, variant) as session:
                points = session.find_points(variant)
                for point in stage.random.sample(points, len(points)):
                    if stage.over():
                        break
                    session.place(figures, point, stage.random.choice(points))
                    figures[_disturb(stage, session)] += 1
                session.kill()
            figures["events"] += session.check()
            stage.tidy()
    return figures


def _disturb(stage, session):
    action = stage.random.choice(("hold", "migrate", "swap"))
    if action == "hold":
        time.sleep(HOLD_S)
    elif action == "migrate":
        for thread in session.threads:
            thread.migrate()
    else:
        session.threads.reverse()  # who was stopped last goes on first
    return action
