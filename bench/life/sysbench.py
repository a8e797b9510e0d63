# SPDX-License-Identifier: MIT
"""sysbench oltp_read_only (point selects and small ranges) on MariaDB, over a unix socket, in a fresh data directory."""
import os
import re
import shutil
import subprocess

from .sample import LifeError, Sample
from .server import Home

NAME = "sysbench"
LABEL = "sysbench oltp_read_only"
THREADS, TABLE_SIZE = 2, 10_000
EVERYWHERE = True  # MariaDB makes a thread per connection: not all of them would be recorded with -p (uprobes.py)
NO_LTTNG = "MariaDB has no LTTng tracepoints; they would have to be compiled in"
CHECKS = {}


def unavailable():
    for tool in ("mariadbd", "mariadb-install-db", "sysbench"):
        if not _which(tool):
            return f"{tool} is not installed (packages mariadb-server-core, sysbench)"
    return None


def _which(tool):
    return shutil.which(tool) or shutil.which(tool, path="/usr/sbin")


class Workload:
    def __init__(self, scope, settings):
        self.binary = _which("mariadbd")
        self._home = Home(scope, "bench-maria-")
        self._socket = os.path.join(self._home.path, "socket")
        data = os.path.join(self._home.path, "data")
        self._home.run([_which("mariadb-install-db"), "--no-defaults", f"--datadir={data}", "--skip-test-db",
                        "--auth-root-authentication-method=normal"], 120)
        self._server = self._home.serve(
            [self.binary, "--no-defaults", f"--datadir={data}", f"--socket={self._socket}", "--skip-networking",
             f"--pid-file={self._home.path}/pid", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0",
             "--innodb-buffer-pool-size=256M", "--skip-grant-tables"], lambda: os.path.exists(self._socket))
        self._create_database()
        self._sysbench("prepare")

    def pids(self):
        return [self._server.pid]

    def measure(self, seconds):
        text = self._sysbench("run", f"--time={max(1, round(seconds))}", timeout=30 + 10 * seconds)
        rate = re.search(r"transactions:\s+\d+\s+\(([\d.]+) per sec", text)
        average, p99 = re.search(r"avg:\s+([\d.]+)", text), re.search(r"99th percentile:\s+([\d.]+)", text)
        if not rate:
            raise LifeError("sysbench told no rate")
        return Sample(float(rate[1]), float(average[1]), float(p99[1]))

    def _create_database(self):
        client = _which("mariadb") or _which("mysql")
        if client:
            self._home.run([client, "--no-defaults", f"--socket={self._socket}", "-e", "create database sbtest"])
        else:
            os.mkdir(os.path.join(self._home.path, "data", "sbtest"))
            os.chown(os.path.join(self._home.path, "data", "sbtest"), *os.stat(self._home.path)[4:6])

    def _sysbench(self, verb, *options, timeout=120):
        argv = ["sysbench", "oltp_read_only", f"--mysql-socket={self._socket}", "--mysql-user=root",
                "--mysql-db=sbtest", f"--table-size={TABLE_SIZE}", "--tables=1", f"--threads={THREADS}",
                "--percentile=99", "--db-driver=mysql", *options, verb]
        try:
            return self._home.run(argv, timeout)
        except subprocess.TimeoutExpired as e:
            raise LifeError("sysbench took too long") from e
