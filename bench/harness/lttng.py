# SPDX-License-Identifier: MIT
"""A private LTTng session daemon (namespace.py; an ordinary user gets a LTTNG_HOME of his own) and its sessions."""
import glob
import os
import re
import shutil
import struct
import subprocess
import tempfile

from .scope import end, wait_until

SUBBUF_SIZE = "4M"
NUM_SUBBUF = "8"
CTF_MAGIC = 0xC1FC1FC1
WAIT_FILES = "/dev/shm/lttng-ust-wait-*"


class LttngError(Exception):
    pass


def unavailable(scope, program="bench_target_lttng"):
    """Why LTTng cannot be measured, or None."""
    for tool in ("lttng", "lttng-sessiond"):
        if not shutil.which(tool):
            return f"{tool} is not installed (package lttng-tools)"
    if program and not os.path.exists(scope.program(program)):
        return "built without lttng-ust (package liblttng-ust-dev)"
    return None


def _remove_wait_files(before):
    """What lttng-ust leaves in shared memory, unless it was there before."""
    for path in set(glob.glob(WAIT_FILES)) - before:
        if os.stat(path).st_uid == os.geteuid():
            os.unlink(path)


class Daemon:
    def __init__(self, scope):
        home = tempfile.mkdtemp(prefix="bench-lttng-")  # short: its sockets have 108 characters at most
        scope.callback(shutil.rmtree, home, ignore_errors=True)
        self.scope = scope
        self.env = {"LTTNG_HOME": home, "LTTNG_UST_REGISTER_TIMEOUT": "-1"}
        self._log = scope.path("lttng.log")
        scope.callback(_remove_wait_files, set(glob.glob(WAIT_FILES)))
        ready = os.path.join(home, "pid")
        argv = ["lttng-sessiond", "--no-kernel", "--pidfile", ready]
        if shutil.which("setpriv"):  # should this process be killed, the daemon goes too
            argv = ["setpriv", "--pdeathsig", "SIGTERM"] + argv
        with open(self._log, "ab") as log:
            self._child = scope.spawn(argv, env=dict(os.environ, **self.env), stdout=log, stderr=log)
        if not wait_until(lambda: os.path.exists(ready) and os.path.getsize(ready) > 0, 20, 0.02):
            raise LttngError("lttng-sessiond did not start: " + self._tail())
        if not wait_until(self._answers, 20, 0.1):
            raise LttngError("lttng-sessiond does not answer: " + self._tail())

    def _answers(self):
        try:
            self.lttng("list")
        except LttngError:
            return False
        return True

    def end(self):
        end(self._child, patience=10)

    def lttng(self, *words):
        done = subprocess.run(["lttng", "--no-sessiond", *words], env=dict(os.environ, **self.env), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30, check=False)
        if done.returncode != 0:
            raise LttngError(f"lttng {' '.join(words)}: {done.stdout.strip()}")
        return done.stdout

    def _tail(self):
        with open(self._log, encoding="utf-8", errors="replace") as f:
            return f.read().strip().split("\n")[-1]


class Session:
    """One session; `channels` maps a channel's name to (events, contexts). Discard mode, or a snapshot session."""

    def __init__(self, daemon, name, channels, snapshot=False, subbuf_size=SUBBUF_SIZE):
        self._daemon = daemon
        self.name = name
        self.output = daemon.scope.path(f"lttng-{name}")
        daemon.lttng("create", name, f"--output={self.output}", *(["--snapshot"] if snapshot else []))
        for channel, (events, contexts) in channels.items():
            daemon.lttng("enable-channel", "-u", channel, "-s", name, "--overwrite" if snapshot else "--discard",
                         f"--subbuf-size={subbuf_size}", f"--num-subbuf={NUM_SUBBUF}", "--buffers-uid")
            for event in events:
                daemon.lttng("enable-event", "-u", event, "-c", channel, "-s", name)
            for context in contexts:
                daemon.lttng("add-context", "-u", "-t", context, "-c", channel, "-s", name)
        daemon.lttng("start", name)

    def stop(self):
        """Ends the session; returns the number of discarded events, None where LTTng does not say."""
        self._daemon.lttng("stop", self.name)
        discarded = re.findall(r"Discarded events:\s*(\d+)", self._daemon.lttng("list", self.name))
        self._daemon.lttng("destroy", self.name)
        return sum(map(int, discarded)) if discarded else None

    def content_bytes(self, channel):
        """Bytes of a channel without the padding of half-filled sub-buffers."""
        return sum(_content_bytes(path) for path in self._streams(channel))

    def file_bytes(self, channel):
        return sum(os.path.getsize(path) for path in self._streams(channel))

    def _streams(self, channel):
        return [os.path.join(at, name) for at, _, names in os.walk(self.output) for name in names
                if re.fullmatch(rf"{channel}_\d+", name)]


def _content_bytes(path):
    """Walks the packets of a stream file: magic, uuid, stream ids, then begin, end, content and packet size in bits."""
    total = 0
    with open(path, "rb") as f:
        while True:
            head = f.read(64)
            if len(head) < 64 or struct.unpack_from("<I", head)[0] != CTF_MAGIC:
                return total
            content, packet = struct.unpack_from("<QQ", head, 48)
            total += content // 8
            f.seek(packet // 8 - len(head), os.SEEK_CUR)
