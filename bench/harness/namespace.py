# SPDX-License-Identifier: MIT
"""As root, a run moves into a mount namespace of its own: nothing of the machine is seen, disturbed or left mounted.

Root's LTTng daemon uses fixed paths (/run/lttng, /dev/shm): both are fresh there. The tracing file system, which perf's
uprobe events are made in, is mounted there only. An ordinary user stays where he is.
"""
import ctypes
import os

CLONE_NEWNS = 0x20000
MS_REC_PRIVATE = 0x4000 | 0x40000
TRACEFS = "/sys/kernel/tracing"


class NamespaceError(Exception):
    pass


def isolate(stack):
    """Moves this process and its children; `stack` undoes what the machine would see."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result, what):
        if result != 0:
            raise NamespaceError(f"{what}: {os.strerror(ctypes.get_errno())}")

    made = not os.path.isdir("/run/lttng")
    os.makedirs("/run/lttng", exist_ok=True)
    try:
        check(libc.unshare(CLONE_NEWNS), "a mount namespace of its own")
    except NamespaceError:
        if made:
            os.rmdir("/run/lttng")
        raise
    if made:
        stack.callback(_remove_mount_point, libc)
    check(libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None), "mount / private")
    for at in (b"/run/lttng", b"/dev/shm"):
        check(libc.mount(b"none", at, b"tmpfs", 0, None), f"tmpfs on {at.decode()}")
    if not os.path.exists(os.path.join(TRACEFS, "uprobe_events")):
        libc.mount(b"none", TRACEFS.encode(), b"tracefs", 0, None)  # without it perf's rows say so


def _remove_mount_point(libc):
    libc.umount2(b"/run/lttng", 2)
    try:
        os.rmdir("/run/lttng")
    except OSError:
        pass  # a daemon of the machine has come to live there
