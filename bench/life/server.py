# SPDX-License-Identifier: MIT
"""A directory and a user for servers that refuse to run as root; and waiting for them."""
import os
import pwd
import shutil
import subprocess
import tempfile

from harness.scope import end, wait_until

from .sample import LifeError

USERS = ("postgres", "nobody")


class Home:
    """A temporary directory owned by an ordinary user: oneself, or as root one of the system's."""

    def __init__(self, scope, prefix):
        self._scope = scope
        self.path = tempfile.mkdtemp(prefix=prefix)  # short: sockets live in it
        scope.callback(shutil.rmtree, self.path, ignore_errors=True)
        self.as_user = {}
        if os.geteuid() == 0:
            user = next(u for u in map(_user, USERS) if u)
            os.chown(self.path, user.pw_uid, user.pw_gid)
            self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.log = os.path.join(self.path, "log")

    def run(self, argv, seconds=60):
        done = subprocess.run(argv, cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=seconds, check=False, **self.as_user)
        if done.returncode != 0:
            last = (done.stderr or done.stdout).strip().split("\n")[-1]
            raise LifeError(f"{os.path.basename(argv[0])}: status {done.returncode}: {last}")
        return done.stdout

    def serve(self, argv, ready, seconds=40, **options):
        """Starts a server that is ended with the scope, and waits until ready()."""
        with open(self.log, "ab") as log:
            child = self._scope.spawn(argv, cwd=self.path, stdout=log, stderr=log, **self.as_user, **options)
        if not wait_until(lambda: child.poll() is not None or ready(), seconds, 0.05) or child.poll() is not None:
            end(child)
            raise LifeError(f"{os.path.basename(argv[0])} did not start: {self.tail()}")
        return child

    def tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read().strip().split("\n")[-1]


def _user(name):
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None
