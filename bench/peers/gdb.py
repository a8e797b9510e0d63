# SPDX-License-Identifier: MIT
"""gdb's fast tracepoints: a jump to a pad in the process, made by gdbserver's in-process agent."""
import os
import re
import shutil
import signal
import subprocess

from harness.scope import end, wait_until
from harness.target import Target

from .subject import NoTracer, PeerError, Subject

NAME = "gdb"
CALLS = 5_000
START_TIMEOUT = 40.0
CASES = {  # variant, label, what is collected
    "register": ("nop5", "gdb fast tracepoint, collect $edi (stores all registers)", "$edi"),
    "global": ("nop5_too", "gdb fast tracepoint, collect 8 bytes of memory, no time", "entry_global"),
}
SCRIPT = """set pagination off
set confirm off
set sysroot /
target remote localhost:{port}
set circular-trace-buffer on
set trace-buffer-size 8388608
tbreak main
continue
{tracepoints}
tstart
break exit
echo armed\\n
continue
tstop
tstatus
detach
"""


class Tracer(NoTracer):
    def __init__(self, target, log):
        self._target = target
        self._log = log
        self._stopped = False

    def stop(self):
        if self._stopped:
            return
        self._stopped = True
        self._target.child.stdin.close()
        try:
            self._target.gdb.wait(30)
        except subprocess.TimeoutExpired:
            end(self._target.gdb, signal.SIGINT)
        end(self._target.child)

    def problem(self, subject):
        frames = re.search(r"trace frames \(of (\d+) created total\)", _read(self._log))
        calls = subject.target.calls
        return None if frames and int(frames[1]) == calls else f"{calls} calls, {frames[1] if frames else 'no'} frames"


def _read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def _agent():
    """The in-process agent, where the distribution keeps it."""
    done = subprocess.run(["dpkg", "-L", "gdbserver"], capture_output=True, text=True, check=False)
    return next((p for p in done.stdout.split("\n") if p.endswith("libinproctrace.so") and os.path.exists(p)), None)


def unavailable(_scope):
    for tool in ("gdb", "gdbserver"):
        if not shutil.which(tool):
            return f"{tool} is not installed (package {tool})"
    return None if _agent() else "gdbserver comes without libinproctrace.so: no fast tracepoints"


def start(scope, threads):
    log = scope.path("gdb.log")
    target = _Started(scope, log)
    if not wait_until(lambda: "armed" in _read(log) or target.gdb.poll() is not None, START_TIMEOUT, 0.02) or \
            "armed" not in _read(log):
        raise PeerError("gdb set no fast tracepoints: " + _last_line(log))
    subjects, tracer = [], Tracer(target, log)
    for case, (variant, label, _) in CASES.items():
        target.run(variant, 2, CALLS, 5, threads)
        subjects.append(Subject(f"gdb.{case}", label, target, variant, tracer, CALLS, every=6))
    return subjects


def _last_line(path):
    return _read(path).strip().split("\n")[-1] or "no message"


class _Started(Target):
    """The program greets only after gdb has let it run: gdb is started while the greeting is waited for."""

    def __init__(self, scope, log):
        self._scope, self._log, self._server_log = scope, log, log + ".server"
        self.gdb = None
        prefix = ["gdbserver", "--once", "--wrapper", "env", f"LD_PRELOAD={_agent()}", "--", "localhost:0"]
        with open(self._server_log, "wb") as err:
            super().__init__(scope, "bench_entry_fixed", prefix=prefix, patience=START_TIMEOUT, stderr=err)

    def _greeting(self, seconds):
        port = wait_until(lambda: re.search(r"Listening on port (\d+)", _read(self._server_log)), START_TIMEOUT, 0.02)
        if not port:
            raise PeerError("gdbserver did not start: " + _last_line(self._server_log))
        script = self._scope.path("gdb.script")
        points = "\n".join(f"ftrace *entry_{v}\nactions\ncollect {what}\nend" for v, _, what in CASES.values())
        with open(script, "w", encoding="utf-8") as f:
            f.write(SCRIPT.format(port=port[1], tracepoints=points))
        with open(self._log, "wb") as out:
            self.gdb = self._scope.spawn(["gdb", "-q", "-nx", "-batch", "-x", script, self.path], stdout=out, stderr=out)
        return super()._greeting(seconds)
