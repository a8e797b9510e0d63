#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command as the foreground job of a terminal, like a shell, and plays its user: terminal.py STEP... -- COMMAND

  see TEXT     waits until the terminal shows TEXT          type TEXT   types a line
  key C        Ctrl-C, key Z: Ctrl-Z, key D: end of input   stopped     waits until the job is stopped, takes the terminal
  left PID     waits until nothing of blip's is in the process; what the job writes is not read meanwhile
  fg           continues the stopped job in the foreground  kill SIG    sends SIG to the job's process group
Prints what the terminal showed, then how the job ended: `exit N` or `signal N`.
"""
import os
import pty
import select
import signal
import sys
import termios
import time

SECONDS = 20


class Job:
    def __init__(self, command):
        self.shown = b""
        self.status = None
        self.master, self.slave = pty.openpty()
        settings = termios.tcgetattr(self.slave)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(self.slave, termios.TCSANOW, settings)
        os.setsid()
        os.close(os.open(os.ttyname(self.slave), os.O_RDWR))  # the controlling terminal
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        self.pid = os.fork()
        if self.pid == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(self.slave, os.getpid())
            for number in (signal.SIGTTOU, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            for fd in (0, 1, 2):
                os.dup2(self.slave, fd)
            os.closerange(3, 100)
            os.execvp(command[0], command)

    def look(self):
        ready, _, _ = select.select([self.master], [], [], 0.02)
        if ready:
            self.shown += os.read(self.master, 65536)
        return ready

    def until(self, what, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            self.look()
            self.wait(0)
            if time.monotonic() > end or (self.status is not None and not condition()):
                sys.exit(f"{self.shown.decode(errors='replace')}\nterminal: {what} did not happen")

    def wait(self, flags):
        """True if the job has stopped (WUNTRACED); its end is remembered."""
        if self.status is not None:
            return False
        pid, status = os.waitpid(self.pid, flags | os.WNOHANG)
        if pid and not os.WIFSTOPPED(status):
            self.status = status
        return pid and os.WIFSTOPPED(status)

    def see(self, text):
        self.until(f"see {text}", lambda: text.encode() in self.shown)

    def type(self, text):
        os.write(self.master, text.encode() + b"\n")

    def key(self, letter):
        os.write(self.master, bytes([ord(letter) - ord("A") + 1]))

    def stopped(self, _):
        self.until("stopped", lambda: self.wait(os.WUNTRACED))
        os.tcsetpgrp(self.slave, os.getpgrp())
        print("stopped")

    def left(self, pid):
        end = time.monotonic() + SECONDS
        while "memfd:blip" in open(f"/proc/{pid}/maps").read():
            if time.monotonic() > end:
                sys.exit(f"terminal: blip is still in {pid}")
            time.sleep(0.01)

    def fg(self, _):
        os.tcsetpgrp(self.slave, self.pid)
        os.killpg(self.pid, signal.SIGCONT)

    def kill(self, name):
        os.killpg(self.pid, getattr(signal, "SIG" + name))

    def end(self):
        self.until("end", lambda: self.status is not None)
        while self.look():
            pass
        print(self.shown.decode(errors="replace").replace("\r\n", "\n"), end="")
        if os.WIFSIGNALED(self.status):
            print("signal", os.WTERMSIG(self.status))
        else:
            print("exit", os.WEXITSTATUS(self.status))


def main():
    split = sys.argv.index("--")
    job = Job(sys.argv[split + 1:])
    for step in sys.argv[1:split]:
        word, _, text = step.partition(" ")
        getattr(job, word)(text)
    job.end()


if __name__ == "__main__":
    main()
