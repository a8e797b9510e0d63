# SPDX-License-Identifier: MIT
"""blip dies at, or is refused, its Nth system call of a kind, for every kind that matters and every N: the sweep of `make torture`.

strace decides the moment, short_writes.c where a write is cut. Every command runs once undisturbed and its calls are counted, then the
moments (moments.py) are gone through, tier by tier, each tier in random order. After each: the target lives and answers, `blip clean`
leaves it as it was, a trace that was begun is readable. Moments in the dynamic loader, before anything of blip has run, are left out:
glibc itself does not check each of its calls.
"""
import collections
import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import time

from e2e import state, trace
from e2e.process import Failure
from e2e.scene import innermost
from moments import FAULTS, KILL, LOADED, SHORT, TIERS, moments
from stage import WAIT_S, Wrong

ARMED = "blip: armed"
RECORD = ("record", "--max-events", "500", "--num-subbuf", "2", "--subbuf-size", "64k")
VERBS = {"record": (*RECORD, "--duration", "10ms"), "count": ("count", "--duration", "10ms"), "clean": ("clean",), "late": RECORD}
USUAL = ("record", "count", "clean")
Subject = collections.namedtuple("Subject", "arguments specs verbs begin")
SUBJECTS = {
    "hammer": Subject(("2",), ("tiny_*",), USUAL, LOADED),  # works all the time, in two threads
    "event_loop": Subject(("lenient",), ("work",), USUAL, LOADED),  # sleeps in epoll_wait
    "loop_calls": Subject(("10",), ("work",), USUAL, LOADED),  # sleeps in read
    # Loads and unloads a library twice per round while a thread works; blip adds and removes probes meanwhile.
    "plug_host": Subject(("t" + " / x0:2" * 4000, "libplug_a.so"), ("work", "libplug_a:plug_work"), ("late",), ARMED),
}


class Sweep:
    def __init__(self, stage):
        self.stage, self.figures = stage, collections.Counter()
        self.targets, self.before, self.wrong = {}, {}, []

    def start(self, subject):
        arguments = [self.stage.targets / word if word.endswith(".so") else word for word in SUBJECTS[subject].arguments]
        target = self.targets[subject] = self.stage.target(subject, *arguments)
        for _ in range(2):
            self.do_a_round(target)
        self.before[subject] = self.snapshot(subject)

    def snapshot(self, subject):
        return state.snapshot(self.targets[subject].pid, loose=subject == "plug_host")

    def run(self):
        """One moment of each command at each target in turn; what there is is counted when it is needed first. All that is wrong is told."""
        commands = [(subject, verb) for subject in SUBJECTS for verb in SUBJECTS[subject].verbs]
        self.stage.random.shuffle(commands)
        left = {}
        for tier in TIERS:
            waiting = commands
            while waiting and not self.stage.over():
                waiting = [command for command in waiting if self.take_one(left, command, tier)]
        for target in self.targets.values():
            target.finish()
        if self.wrong:
            raise Wrong("\n  ".join([f"{len(self.wrong)} moments; {dict(self.figures)}", *self.wrong]))
        return self.figures

    def take_one(self, left, command, tier):
        """False when none is left of this tier."""
        if self.stage.over():
            return False
        if command not in left:
            left[command] = self.count(*command)
        if not left[command][tier]:
            return False
        self.disturb_and_note(left[command][tier].pop())
        self.figures[f"of tier '{tier}'"] += 1
        return True

    def disturb_and_note(self, moment):
        """After a wrong moment the sweep goes on, with another target."""
        try:
            self.disturb(moment)
        except (Wrong, Failure, subprocess.TimeoutExpired) as wrong:
            self.wrong.append(f"{' '.join(map(str, moment))}: {wrong}; blip said: {self.stage.blip_said().strip()[-600:]}")
            print(f"  wrong: {self.wrong[-1]}", flush=True)
            self.targets[moment.subject].kill()
            self.start(moment.subject)

    def count(self, subject, verb):
        """By tier, in random order, from an undisturbed run."""
        if subject not in self.targets:
            self.start(subject)
        self.leave_something(subject, verb)
        self.run_blip(subject, verb, ["-y", "-e", "trace=" + ",".join([*FAULTS, LOADED])])
        log = (self.stage.scratch / "strace.log").read_text(errors="replace")
        self.put_right(subject, "undisturbed")
        found = moments(subject, verb, log, SUBJECTS[subject].begin)
        for tier in TIERS:
            self.stage.random.shuffle(found[tier])
            self.figures[f"'{tier}' in all"] += len(found[tier])
        return found

    def leave_something(self, subject, verb):
        """For `blip clean`: an armed blip was killed before."""
        if verb != "clean":
            return
        for last in (False, False, True):
            blip = self.stage.start_blip("count", "-p", self.targets[subject].pid, "--function", SUBJECTS[subject].specs[0])
            try:
                self.stage.wait_for_armed(blip)
                return
            except Wrong:
                if last or "try again later" not in self.stage.blip_said():  # a busy machine
                    raise
            finally:
                blip.kill()
                blip.wait()

    def run_blip(self, subject, verb, strace=(), environment=None):
        """blip's exit code, under strace if there are options for it; its words are stage.blip_said()."""
        words = [self.stage.blip, *VERBS[verb], "-p", self.targets[subject].pid]
        if verb != "clean":
            words += [word for spec in SUBJECTS[subject].specs for word in ("--function", spec)]
        if verb in ("record", "late"):
            words += ["-o", self.stage.scratch / "t.swept"]
        shutil.rmtree(self.stage.scratch / "t.swept", ignore_errors=True)
        if strace:
            words = ["strace", "-f", "-qq", "-o", self.stage.scratch / "strace.log", *strace, *words]
        with open(self.stage.scratch / "blip.err", "wb") as err:
            process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=err, env={**os.environ, **(environment or {})})
        try:
            if verb == "late":
                self.load_meanwhile(subject, process)
            return process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Wrong(f"blip {verb} at {subject} does not end") from None

    def load_meanwhile(self, subject, process):
        """The target does a round while blip is there; then blip is told to end."""
        with contextlib.suppress(Wrong):  # it may come to its end before it is armed
            self.stage.wait_for_armed(process)
        self.do_a_round(self.targets[subject])
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            if process.poll() is None:
                os.kill(innermost(process.pid), signal.SIGINT)

    def disturb(self, moment):
        self.leave_something(moment.subject, moment.verb)
        strace, environment = self.how(moment)
        self.check_end(moment, self.run_blip(moment.subject, moment.verb, strace, environment))
        self.targets[moment.subject].check_alive("")
        interrupted = self.put_right(moment.subject, "afterwards")
        if interrupted and moment.fault != KILL:
            raise Wrong("a call of the target's was interrupted")
        self.figures["interrupted by a kill"] += interrupted
        self.check_trace(moment)
        if moment.fault == SHORT:
            self.figures["short writes"] += self.cut().exists()
            self.cut().unlink(missing_ok=True)
        else:
            self.figures["kills" if moment.fault == KILL else "failed calls"] += 1

    def how(self, moment):
        """strace's options and the environment that bring it about."""
        if moment.fault == SHORT:
            return (), {"LD_PRELOAD": str(self.stage.targets / "libshort_writes.so"), "SHORT_CALL": moment.call,
                        "SHORT_AT": str(moment.number), "SHORT_DONE": str(self.cut())}
        what = "signal=KILL" if moment.fault == KILL else f"error={moment.fault}"
        return ("-e", f"trace={moment.call}", "-e", f"inject={moment.call}:{what}:when={moment.number}"), None

    def cut(self):
        """There when a write was cut: which of them go through the C library's function is not known before."""
        return self.stage.scratch / "short.done"

    def check_end(self, moment, code):
        said = self.stage.blip_said()
        if moment.fault == KILL:
            if code not in (-9, 0, 1):  # 0 and 1: another thread got less far this time
                raise Wrong(f"blip exits {code}")
            return
        if code not in (0, 1):
            raise Wrong(f"blip exits {code}")
        if code == 1 and moment.call != "write" and not re.search("^blip: .", said, re.M):
            raise Wrong("blip fails and says nothing")
        self.figures["told"] += code != 0
        if not state.untouched(self.targets[moment.subject].pid):
            believed_gone = moment.fault == "ESRCH"
            if code == 0 and not believed_gone or moment.verb == "clean" and "blip" not in said:
                raise Wrong("blip ends well and leaves something")
            self.figures["left for the next"] += 1

    def put_right(self, subject, when):
        """What the next one does: clean; then all is as before, and the target does a round of its work."""
        target = self.targets[subject]
        for _ in range(5):  # on a busy machine threads stop late, and a killed blip goes late
            done = subprocess.run([self.stage.blip, "clean", "-q", "-p", str(target.pid)], capture_output=True, text=True, timeout=WAIT_S)
            if "try again later" not in done.stderr and "already traced by blip" not in done.stderr:
                break
            time.sleep(0.2)
        if done.returncode != 0:
            raise Wrong(f"{when}: blip clean exits {done.returncode}: {done.stderr.strip()[-300:]}")
        end = time.monotonic() + 2  # a thread that was just let go shows its other signal mask until it runs
        while wrong := state.differences(self.before[subject], self.snapshot(subject)):
            if time.monotonic() > end:
                raise Wrong(f"{when}: " + "; ".join(wrong[:5]))
            time.sleep(0.02)
        return b"interrupted" in self.do_a_round(target)

    @staticmethod
    def do_a_round(target):
        """What the target says. The kernel itself interrupts epoll_wait when its process stops; blip undoes that in the next
        microseconds. One that is killed between leaves it so."""
        target.go()
        said = b""
        while not said.endswith(b"done\n"):
            if not select.select([target.popen.stdout], [], [], WAIT_S)[0]:
                raise Wrong(f"{target.name} does not answer")
            more = os.read(target.popen.stdout.fileno(), 4096)  # past any buffer, as select() looks
            if not more:
                raise Wrong(f"{target.name} ends: {target.popen.wait(WAIT_S)}, {said}")
            said += more
        return said

    def check_trace(self, moment):
        directory = self.stage.scratch / "t.swept"
        if moment.verb in ("record", "late") and (directory / "metadata").exists():
            trace.check_readable(directory)
            self.figures["traces read"] += 1


def faults(stage):
    return Sweep(stage).run()
