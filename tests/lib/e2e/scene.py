# SPDX-License-Identifier: MIT
"""The processes of one case: the target (with its state before), the blip sessions, and what they said."""
import re
import shlex
import shutil
import string
import subprocess
import time

from . import state
from .feeder import Feeder
from .process import Failure, Process, become, describe, poll

ARMED = re.compile(r"^blip: armed (\d+) probes? in ([\d.]+) ms \(target paused ([\d.]+) ms\)(?:, (\d+) refused)?", re.M)
SUMMARY = re.compile(r"^blip: (\d+) events?, (\d+) discarded, (\d+) skipped(?:; trace in (.*))?$", re.M)
READING = 200_000  # more bytes than a pipe holds: the program is set up and reads
STATE_SECONDS = 3
PRINTED = re.compile(r"(\w+)=(\S+)")


def innermost(pid):
    """The target behind the programs of `inside`, which have one child each."""
    while True:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
        if not children:
            return pid
        pid = int(children[0])


class Scene:
    def __init__(self, settings, directory, tools, deadline):
        self.settings, self.directory, self.tools, self.deadline = settings, directory, tools, deadline
        self.env = {"PATH": f"{tools.stage}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(directory), "LC_ALL": "C",
                    "PYTHONHASHSEED": "0", "DIR": str(directory)}
        self.vars = {"DIR": str(directory), "TARGETS": str(tools.targets), "LIB": str(tools.lib)}
        self.target = self.feeder = self.before = self.blip = self.trace_dir = None
        self.helpers, self.sessions, self.rounds = [], 0, 0
        self.out = self.err = ""
        self.code = None

    # ---- target ----

    def start_target(self):
        if "program" in self.settings:
            argv = shlex.split(self.expand(self.settings["program"]))
            self.feeder = Feeder(self.settings["feed"]) if "feed" in self.settings else None
        else:
            argv = self.target_argv()
        who = self.settings.get("target-as", self.settings.get("as"))
        if "prepare" in self.settings:
            self.prepare(self.settings["prepare"])
        inside = shlex.split(self.expand(self.settings.get("inside", "")))
        self.target = Process("target", inside + argv, self.directory, self.env, who)
        self.vars["PID"] = self.target.pid
        if self.feeder:
            self.feeder.start(self.target.popen.stdin)
            poll("the program to take its first input", self.deadline, lambda: self.feeder.bytes >= READING)
        else:
            self.wait_line("ready")
        if inside:
            self.vars["PID"] = self.target.pid = innermost(self.target.pid)
        self.remember_state()

    def target_argv(self):
        name, *args = shlex.split(self.expand(self.settings["target"]))
        for file in [name, *self.settings.get("with", "").split()]:
            path = self.tools.targets / file
            if not path.exists():
                raise Failure(f"no target program {path}: build e2e_targets")
            shutil.copy(path, self.directory / file)
        return [str(self.directory / name), *args]

    def prepare(self, command):
        done = subprocess.run(["bash", "-ec", self.expand(command)], capture_output=True, text=True, cwd=self.directory,
                              env=self.env)
        if done.returncode != 0:
            raise Failure(f"prepare failed: {done.stderr.strip()}")
        self.vars.update(line.split("=", 1) for line in done.stdout.splitlines())

    def remember_state(self):
        self.before = state.snapshot(self.target.pid, "loose" in self.state_words())

    def state_words(self):
        return self.settings.get("state", "").split()

    def check_state(self):
        """The target looks as it did before the first blip came, if it still runs. A thread that has just been let go may
        not have run yet: one that waits in ppoll shows its other signal mask until then."""
        if not self.target or self.before is None or not state.is_alive(self.target.pid):
            return
        parts = [p for p in self.state_words() if p in state.PARTS] or state.PARTS
        patience = time.monotonic() + STATE_SECONDS
        while True:
            after = state.snapshot(self.target.pid, "loose" in self.state_words())
            wrong = state.differences(self.before, after, parts)
            if not wrong or not state.is_alive(self.target.pid):
                return
            if time.monotonic() > patience:
                raise Failure("the target's visible state changed:\n" + "\n".join(wrong[:20]))
            time.sleep(0.05)

    def wait_line(self, text, count=1):
        def seen():
            lines = self.target.out().splitlines()
            self.read_vars()
            return lines.count(text) >= count or self.target.code() is not None
        poll(f"the target to print '{text}'", self.deadline, seen)
        if self.target.out().splitlines().count(text) < count:
            raise Failure(f"the target ended ({describe(self.target.code())}) before it printed '{text}'")

    def read_vars(self):
        for key, value in PRINTED.findall(self.target.out()):
            try:
                self.vars[key] = int(value, 0)
            except ValueError:
                self.vars[key] = value

    def go(self, wait=True):
        done = self.target.out().splitlines().count("done")
        self.target.send_line()
        self.rounds += 1
        if wait:
            self.wait_line("done", done + 1)

    # ---- blip and other commands ----

    def expand(self, text):
        text = text.replace("\n", " ")  # continuation lines
        return string.Template(text).safe_substitute({k: str(v) for k, v in self.vars.items()})

    def start_blip(self, command, wait=True):
        """Starts a command line that runs blip, waits until it is armed or has ended."""
        self.sessions += 1
        command = self.expand(command)
        argv = shlex.split(command)
        if "|" in argv or ">" in argv or "2>&1" in argv or ">&-" in argv:
            argv = ["bash", "-c", "set -o pipefail; " + command]
        elif argv[0] == "blip":
            argv[0] = str(self.tools.stage / "blip")
        self.blip = Process(f"blip{self.sessions}", argv, self.directory, self.env, self.settings.get("as"),
                            subprocess.DEVNULL)
        self.vars["BLIP_PID"] = self.blip.pid
        self.trace_dir = self.output_dir(argv) or self.trace_dir
        if wait:
            self.wait_armed()

    def output_dir(self, argv):
        for option in ("-o", "--output"):
            if option in argv[:-1]:
                return self.directory / argv[argv.index(option) + 1]
        return None

    def wait_armed(self):
        poll("blip to be armed", self.deadline, lambda: ARMED.search(self.blip.err()) or self.blip.code() is not None)

    def end_blip(self, signal_name=None):
        """Waits for blip's end (after a signal, if one is named) and remembers what it said."""
        if signal_name and self.blip.code() is None:
            self.blip.signal(signal_name)
        self.code = self.blip.wait(self.deadline)
        self.out, self.err = self.blip.out(), self.blip.err()
        if self.target:
            self.read_vars()
        summary = SUMMARY.search(self.err)
        if summary and summary[4]:
            self.trace_dir = self.directory / summary[4]

    def shell(self, command):
        argv = become(self.settings.get("as")) + ["bash", "-c", self.expand(command)]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, errors="replace", cwd=self.directory,
                                  env=self.env, stdin=subprocess.DEVNULL,
                                  timeout=max(1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure(f"timed out: {command}") from None
        self.out, self.err, self.code = done.stdout, done.stderr, done.returncode

    def start_helper(self, command):
        self.helpers.append(Process(f"helper{len(self.helpers)}", ["bash", "-c", "exec " + self.expand(command)],
                                    self.directory, self.env))

    @property
    def helper(self):
        return self.helpers[-1] if self.helpers else None

    def summary(self):
        found = SUMMARY.search(self.err)
        if not found:
            raise Failure("blip printed no line 'blip: N events, D discarded, S skipped'")
        return tuple(int(found[i]) for i in (1, 2, 3))

    def clean_up(self):
        if self.feeder:
            self.feeder.abandon()
        for process in [self.blip, self.target, *self.helpers]:
            if process:
                process.kill()
