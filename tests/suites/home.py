# SPDX-License-Identifier: MIT
"""A directory of an ordinary user, and commands run there with and without blip."""
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = 1800


class Home:
    def __init__(self, build):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="suite."))
        self.path.chmod(0o755)
        shutil.copy(build / "blip", self.path / "blip")
        self.as_user = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(self.path, user.pw_uid, user.pw_gid)
            self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def run(self, argv, probes):
        """The command's output; with probes, blip's words, under blip."""
        _, out, said = self.execute(argv, probes)
        return out + said

    def execute(self, argv, probes):
        """Exit code, stdout, stderr."""
        if probes:
            argv = [self.path / "blip", "count", "--max-probes", "2000000", *probes, "--", *argv]
        with open(self.path / "err", "w+b") as err:
            done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=err, timeout=TIMEOUT, **self.there())
            err.seek(0)
            said = err.read().decode(errors="replace")
        if probes and "blip: armed" not in said:
            sys.exit(f"suites: blip did not arm: {said[-1000:]}")
        for line in said.splitlines():
            if probes and line.startswith("blip: ") and ": armed " in line:
                print(f"suites: {line}", flush=True)
        return done.returncode, done.stdout.decode(errors="replace"), said

    def start(self, argv):
        return subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **self.there())

    def there(self):
        return {"cwd": self.path, "stdin": subprocess.DEVNULL, "env": {**os.environ, "HOME": str(self.path), "TMPDIR": str(self.path)}, **self.as_user}

    def directory(self):
        """For a trace; the one before goes."""
        trace = self.path / "trace"
        shutil.rmtree(trace, ignore_errors=True)
        return trace

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)
