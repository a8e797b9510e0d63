# SPDX-License-Identifier: MIT
"""Processes a case starts: output in files, every wait with a deadline, ended by pid."""
import os
import signal
import subprocess
import time

USER_ID = 65534  # nobody


class Failure(Exception):
    """A case does not hold."""


class Skip(Exception):
    """A case cannot run here."""


def become(who):
    """The words that start a command as `who` (root, user, or None: as we are)."""
    if who == "root" and os.geteuid() != 0:
        raise Skip("needs root")
    if who == "user" and os.geteuid() == 0:
        return ["setpriv", "--reuid", str(USER_ID), "--regid", str(USER_ID), "--clear-groups", "--"]
    return []


def poll(what, deadline, condition):
    """Waits until condition() gives something true and returns it; Failure at the deadline."""
    pause = 0.002
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failure(f"timed out waiting for {what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


class Process:
    """One started process. `name` names its output files NAME.out and NAME.err in `directory`."""

    def __init__(self, name, argv, directory, env, who=None, stdin=subprocess.PIPE):
        self.name, self.argv = name, argv
        self.out_path, self.err_path = directory / f"{name}.out", directory / f"{name}.err"
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.popen = subprocess.Popen(become(who) + argv, stdin=stdin, stdout=out, stderr=err, cwd=directory,
                                          env=env, start_new_session=True)
        self.pid = self.popen.pid  # of the target itself, where it was started inside something

    def out(self):
        return self.out_path.read_text(errors="replace")

    def err(self):
        return self.err_path.read_text(errors="replace")

    def code(self):
        """None while running; negative for a signal."""
        return self.popen.poll()

    def send_line(self, text="go"):
        self.popen.stdin.write(text.encode() + b"\n")
        self.popen.stdin.flush()

    def close_stdin(self):
        if self.popen.stdin and not self.popen.stdin.closed:
            try:
                self.popen.stdin.close()
            except BrokenPipeError:
                pass

    def signal(self, name):
        if self.code() is None:
            os.kill(self.pid, getattr(signal, "SIG" + name.removeprefix("SIG")))

    def wait(self, deadline):
        try:
            return self.popen.wait(max(0.01, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure(f"timed out waiting for {self.name} (pid {self.pid}) to end") from None

    def kill(self):
        """Ends the process and those it started (its session)."""
        for pid in session_members(self.popen.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.close_stdin()
        self.popen.wait()


def session_members(sid):
    members = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                if int(file.read().rpartition(")")[2].split()[3]) == sid:
                    members.append(int(entry))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return members


def describe(code):
    if code is None:
        return "is running"
    return f"exits {code}" if code >= 0 else f"killed by {signal.Signals(-code).name.removeprefix('SIG')}"
