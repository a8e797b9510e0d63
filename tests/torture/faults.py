# SPDX-License-Identifier: MIT
"""blip dies at, or is refused, its Nth system call of a kind, for every kind that matters and every N: the sweep of `make torture`.

strace decides the moment. Every command runs once undisturbed and its calls are counted, then all moments are gone through in random
order. After each: the target lives and answers, `blip clean` leaves it as it was, a trace that was begun is readable. Moments in the
dynamic loader, before anything of blip has run, are left out: glibc itself does not check each of its calls.
"""
import collections
import os
import re
import select
import shutil
import subprocess
import time

from e2e import state, trace
from e2e.process import Failure
from stage import WAIT_S, Wrong

KILL = "KILL"
FAULTS = {  # what may happen at each kind of call
    "ptrace": (KILL, "ESRCH", "EPERM", "EIO"),
    "process_vm_writev": (KILL, "ESRCH", "EPERM", "EFAULT"),
    "pwrite64": (KILL, "EIO", "EPERM"),
    "process_vm_readv": (KILL, "ESRCH", "EPERM"),
    "pread64": (KILL, "EIO"),
    "mmap": (KILL, "ENOMEM"),
    "ftruncate": (KILL, "ENOSPC", "EIO"),
    "fallocate": (KILL, "ENOSPC", "EIO", "EINTR"),
    "write": (KILL, "ENOSPC", "EIO", "EINTR"),
    "openat": (KILL, "EMFILE", "ENOMEM", "EIO"),
    "openat2": (KILL, "EMFILE", "EPERM"),
    "mkdir": (KILL, "ENOSPC"),
    "renameat": (KILL, "EIO"),
    "read": (KILL, "EIO", "EINTR"),
    "getdents64": (KILL, "EIO"),
    "waitid": (KILL, "EINTR"),
    "clone3": (KILL, "EAGAIN"),
    "munmap": (KILL,),
    "poll": (KILL, "EINTR", "ENOMEM"),
    "clock_nanosleep": (KILL, "EINTR"),
}
MOST = 120  # of one kind of call: waits and reads repeat
SUBJECTS = {  # a target that works all the time, one that sleeps in epoll_wait, one that sleeps in read
    "hammer": ((2,), "tiny_*"), "event_loop": (("lenient",), "work"), "loop_calls": ((10,), "work")}
LOADED = "set_tid_address"  # the loader has mapped everything; made once by each process
VERBS = {"record": ("--max-events", "500", "--num-subbuf", "2", "--subbuf-size", "64k", "--duration", "10ms"),
         "count": ("--duration", "10ms"), "clean": ()}
Moment = collections.namedtuple("Moment", "subject verb call fault number")


class Sweep:
    def __init__(self, stage):
        self.stage, self.figures = stage, collections.Counter()
        self.targets, self.before, self.wrong = {}, {}, []
        for name in SUBJECTS:
            self.start(name)

    def start(self, subject):
        self.targets[subject] = self.stage.target(subject, *SUBJECTS[subject][0])
        self.before[subject] = state.snapshot(self.targets[subject].pid)

    def run(self):
        """One moment of each command at each target in turn; what there is is counted when it is needed first. All that is wrong is told."""
        commands = [(subject, verb) for subject in SUBJECTS for verb in VERBS]
        self.stage.random.shuffle(commands)
        left = {}
        while not self.stage.over() and any(left.get(command, True) for command in commands):
            for command in commands:
                if command not in left:
                    left[command] = self.moments(*command)
                    self.figures["moments in all"] += len(left[command])
                if left[command] and not self.stage.over():
                    self.disturb_and_note(left[command].pop())
        for target in self.targets.values():
            target.finish()
        if self.wrong:
            raise Wrong("\n  ".join([f"{len(self.wrong)} moments; {dict(self.figures)}", *self.wrong]))
        return self.figures

    def disturb_and_note(self, moment):
        """After a wrong moment the sweep goes on, with another target."""
        try:
            self.disturb(moment)
        except (Wrong, Failure, subprocess.TimeoutExpired) as wrong:
            self.wrong.append(f"{' '.join(map(str, moment))}: {wrong}; blip said: {self.stage.blip_said().strip()[-600:]}")
            print(f"  wrong: {self.wrong[-1]}", flush=True)
            self.targets[moment.subject].kill()
            self.start(moment.subject)

    def moments(self, subject, verb):
        """In random order, by the calls of an undisturbed run; strace counts per thread."""
        self.leave_something(subject, verb)
        self.strace(subject, verb, ["-e", "trace=" + ",".join([*FAULTS, LOADED])])
        log = (self.stage.scratch / "strace.log").read_text(errors="replace")
        before = collections.Counter(call for _, call in self.calls(log[:log.index(LOADED)]))
        most = collections.Counter()
        for (_, call), number in collections.Counter(self.calls(log)).items():
            most[call] = max(most[call], number)
        self.put_right(subject, "undisturbed")
        found = [Moment(subject, verb, call, fault, n + 1) for call in most if call != LOADED for fault in FAULTS[call]
                 for n in range(before[call], min(before[call] + MOST, most[call]))]
        self.stage.random.shuffle(found)
        return found

    @staticmethod
    def calls(log):
        """Who made which, as often as it was made."""
        return re.findall(r"^(\d+) +(\w+)\(", log, re.M)

    def leave_something(self, subject, verb):
        """For `blip clean`: an armed blip was killed before."""
        if verb != "clean":
            return
        for last in (False, False, True):
            blip = self.stage.start_blip("count", "-p", self.targets[subject].pid, "--function", SUBJECTS[subject][1])
            try:
                self.stage.wait_for_armed(blip)
                return
            except Wrong:
                if last or "try again later" not in self.stage.blip_said():  # a busy machine
                    raise
            finally:
                blip.kill()
                blip.wait()

    def strace(self, subject, verb, options):
        """blip's exit code under strace; its words are stage.blip_said()."""
        words = [self.stage.blip, verb, "-p", self.targets[subject].pid, *VERBS[verb]]
        if verb != "clean":
            words += ["--function", SUBJECTS[subject][1]]
        if verb == "record":
            words += ["-o", self.stage.scratch / "t.swept"]
        shutil.rmtree(self.stage.scratch / "t.swept", ignore_errors=True)
        argv = ["strace", "-f", "-qq", "-o", self.stage.scratch / "strace.log", *options, *words]
        with open(self.stage.scratch / "blip.err", "wb") as err:
            process = subprocess.Popen(list(map(str, argv)), stdout=subprocess.DEVNULL, stderr=err)
            try:
                return process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Wrong(f"blip {verb} at {subject} does not end") from None

    def disturb(self, moment):
        self.leave_something(moment.subject, moment.verb)
        what = "signal=KILL" if moment.fault == KILL else f"error={moment.fault}"
        inject = ["-e", f"trace={moment.call}", "-e", f"inject={moment.call}:{what}:when={moment.number}"]
        code = self.strace(moment.subject, moment.verb, inject)
        self.check_end(moment, code)
        self.targets[moment.subject].check_alive("")
        interrupted = self.put_right(moment.subject, "afterwards")
        if interrupted and moment.fault != KILL:
            raise Wrong("a call of the target's was interrupted")
        self.figures["interrupted by a kill"] += interrupted
        self.check_trace(moment)
        self.figures["kills" if moment.fault == KILL else "failed calls"] += 1

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
        while wrong := state.differences(self.before[subject], state.snapshot(target.pid)):
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
        if moment.verb == "record" and (directory / "metadata").exists():
            trace.check_readable(directory)
            self.figures["traces read"] += 1


def faults(stage):
    return Sweep(stage).run()
