# SPDX-License-Identifier: MIT
"""A private LTTng session daemon with one user-space session, in discard mode.

Root's daemon uses fixed paths (/run/lttng, /dev/shm): the run moves into a mount namespace of its own, where both are
fresh, so that a daemon of the machine is neither seen nor disturbed. An ordinary user gets a LTTNG_HOME of his own.
"""
import ctypes
import glob
import os
import re
import shutil
import struct
import subprocess
import tempfile

from .scope import end, wait_until

CLONE_NEWNS = 0x20000
MS_REC_PRIVATE = 0x4000 | 0x40000
SUBBUF_SIZE = "4M"
NUM_SUBBUF = "8"
CTF_MAGIC = 0xC1FC1FC1
WAIT_FILES = "/dev/shm/lttng-ust-wait-*"


class LttngError(Exception):
    pass


def unavailable(scope):
    """Why the LTTng rows cannot be measured, or None."""
    for tool in ("lttng", "lttng-sessiond"):
        if not shutil.which(tool):
            return f"{tool} is not installed (package lttng-tools)"
    if not os.path.exists(scope.program("bench_target_lttng")):
        return "built without lttng-ust (package liblttng-ust-dev)"
    return None


def isolate(scope):
    """Root only: moves this process (and its children) to a private /run/lttng and /dev/shm."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result, what):
        if result != 0:
            raise LttngError(f"{what}: {os.strerror(ctypes.get_errno())}")

    made = not os.path.isdir("/run/lttng")
    os.makedirs("/run/lttng", exist_ok=True)
    try:
        check(libc.unshare(CLONE_NEWNS), "a mount namespace of its own")
    except LttngError:
        if made:
            os.rmdir("/run/lttng")
        raise
    check(libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None), "mount / private")
    for at in (b"/run/lttng", b"/dev/shm"):
        check(libc.mount(b"none", at, b"tmpfs", 0, None), f"tmpfs on {at.decode()}")
    if made:
        scope.callback(_remove_mount_point, libc)


def _remove_mount_point(libc):
    libc.umount2(b"/run/lttng", 2)
    try:
        os.rmdir("/run/lttng")
    except OSError:
        pass  # a daemon of the machine has come to live there


def _remove_wait_files(before):
    """What lttng-ust leaves in shared memory, unless it was there before."""
    for path in set(glob.glob(WAIT_FILES)) - before:
        if os.stat(path).st_uid == os.geteuid():
            os.unlink(path)


class Session:
    def __init__(self, scope, event):
        self.output = scope.path("lttng-trace")
        home = tempfile.mkdtemp(prefix="bench-lttng-")  # short: its sockets have 108 characters at most
        scope.callback(shutil.rmtree, home, ignore_errors=True)
        self.env = {"LTTNG_HOME": home, "LTTNG_UST_REGISTER_TIMEOUT": "-1"}
        self._log = scope.path("lttng.log")
        scope.callback(_remove_wait_files, set(glob.glob(WAIT_FILES)))
        ready = os.path.join(home, "pid")
        argv = ["lttng-sessiond", "--no-kernel", "--pidfile", ready]
        if shutil.which("setpriv"):  # should this process be killed, the daemon goes too
            argv = ["setpriv", "--pdeathsig", "SIGTERM"] + argv
        with open(self._log, "ab") as log:
            self._daemon = scope.spawn(argv, env=dict(os.environ, **self.env), stdout=log, stderr=log)
        if not wait_until(lambda: os.path.exists(ready) and os.path.getsize(ready) > 0, 10, 0.02):
            raise LttngError("lttng-sessiond did not start: " + self._tail())
        self._lttng("create", "bench", f"--output={self.output}")
        self._lttng("enable-channel", "-u", "events", "--discard", f"--subbuf-size={SUBBUF_SIZE}",
                    f"--num-subbuf={NUM_SUBBUF}", "--buffers-uid")
        self._lttng("enable-event", "-u", event, "-c", "events")
        self._lttng("start")

    def stop(self):
        """Ends the session and the daemon; returns the number of discarded events."""
        self._lttng("stop")
        discarded = re.search(r"Discarded events:\s*(\d+)", self._lttng("list", "bench"))
        self._lttng("destroy", "bench")
        end(self._daemon, patience=10)
        return int(discarded[1]) if discarded else None

    def content_bytes(self):
        """Bytes of the trace without the padding of half-filled sub-buffers."""
        return sum(_content_bytes(os.path.join(at, name)) for at, _, names in os.walk(self.output)
                   for name in names if name.startswith("events_"))

    def _lttng(self, *words):
        done = subprocess.run(["lttng", "--no-sessiond", *words], env=dict(os.environ, **self.env), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30, check=False)
        if done.returncode != 0:
            raise LttngError(f"lttng {' '.join(words)}: {done.stdout.strip()}")
        return done.stdout

    def _tail(self):
        with open(self._log, encoding="utf-8", errors="replace") as f:
            return f.read().strip().split("\n")[-1]


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
