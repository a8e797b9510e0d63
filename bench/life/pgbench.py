# SPDX-License-Identifier: MIT
"""pgbench (its default script, five statements a transaction) on PostgreSQL, over a unix socket, without fsync.

pgbench runs all the time and logs each transaction; a window is a stretch of that log, so the backends, their caches and
the client are the same in all windows.
"""
import os
import shutil
import signal
import subprocess
import time

from harness import blip, elf
from harness.scope import end, wait_until

from .sample import CpuWatch, LifeError, Sample
from .server import Home

NAME = "pgbench"
LABEL = "pgbench"
BIN = "/usr/lib/postgresql/15/bin"
SCALE, CLIENTS = 5, 2
EVERYWHERE = False
NO_LTTNG = "PostgreSQL has no LTTng tracepoints; they would have to be compiled in"
CHECKS = {100: (5, 2)}  # functions: % fewer transactions, must and reach
ATTACH = {"id": "attach.postgres", "name": "1000 functions of a PostgreSQL backend", "functions": 1000,
          "ms": (200, 80), "mb": (150, 60)}
CONFIG = """
listen_addresses = ''
unix_socket_directories = '{dir}'
fsync = off
synchronous_commit = off
full_page_writes = off
shared_buffers = 128MB
autovacuum = off
checkpoint_timeout = 1h
max_wal_size = 4GB
jit = off
"""


def unavailable():
    for tool in (os.path.join(BIN, "postgres"), os.path.join(BIN, "initdb"), "pgbench", "psql"):
        if not shutil.which(tool):
            return f"{tool} is not installed (package postgresql-15)"
    return None


class Workload:
    binary = os.path.join(BIN, "postgres")
    tracer_pid = None  # whose CPU time belongs to the next window

    def __init__(self, scope, settings):
        self._home = Home(scope, "bench-pg-")
        self._data = os.path.join(self._home.path, "data")
        self._home.run([os.path.join(BIN, "initdb"), "-D", self._data, "-A", "trust", "-U", "bench", "-N", "-E", "UTF8"])
        with open(os.path.join(self._data, "postgresql.conf"), "a", encoding="utf-8") as f:
            f.write(CONFIG.format(dir=self._home.path))
        self._server = self._home.serve([self.binary, "-D", self._data], self._answers)
        scope.callback(end, self._server, signal.SIGINT)  # "fast shutdown": ends its backends too
        self._home.run(["pgbench", "-h", self._home.path, "-U", "bench", "-i", "-q", "-s", str(SCALE), "postgres"])
        several = blip.find(scope.build) and blip.has_option(blip.find(scope.build), "record", "Repeatable\n  -n")
        self._clients = CLIENTS if several else 1
        self._client = scope.spawn(
            ["pgbench", "-h", self._home.path, "-U", "bench", "-n", "-c", str(self._clients), "-j", "1",
             "-T", "3600", "-l", "--log-prefix=tx", "postgres"],
            cwd=self._home.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._home.as_user)
        if not wait_until(lambda: len(self._find_backends()) == self._clients, 20, 0.1):
            raise LifeError("pgbench did not connect")
        self._backends = self._find_backends()

    def pids(self):
        """The backends that serve pgbench."""
        return self._backends

    def _find_backends(self):
        text = self._psql("select pid from pg_stat_activity where application_name = 'pgbench'")
        return [int(line) for line in text.split()]

    def measure(self, seconds):
        if self._client.poll() is not None:
            raise LifeError("pgbench ended: " + self._home.tail())
        begin, watch = time.time(), CpuWatch(self._backends, self.tracer_pid)
        time.sleep(seconds)
        stop, (traced, tracer) = time.time(), watch.stop()
        time.sleep(0.05)
        latencies = self._latencies(begin, stop)
        if not latencies:
            return Sample(0.0)
        latencies.sort()
        return Sample(len(latencies) / (stop - begin), sum(latencies) / len(latencies) / 1000,
                      latencies[int(len(latencies) * 0.99)] / 1000,
                      cpu_us=(traced + tracer) / len(latencies) * 1e6, tracer_cpu_us=tracer / len(latencies) * 1e6)

    def more_functions(self, chosen, count):
        """Fills a list up with functions of the backend that were not called."""
        others = [f for f in sorted(elf.Elf(self.binary).functions) if f not in set(chosen)]
        step = max(1, len(others) // (count - len(chosen)))
        return chosen + others[::step][:count - len(chosen)]

    def _latencies(self, begin, stop):
        """us of the transactions that ended in the window. pgbench writes its log in blocks: the end may be a moment late."""
        path = os.path.join(self._home.path, f"tx.{self._client.pid}")
        wait_until(lambda: _last_time(path) >= stop, 3, 0.05)
        found = []
        with open(path, "rb") as f:
            f.seek(max(0, os.path.getsize(path) - (64 << 20)))
            for line in f:
                words = line.split()
                if len(words) >= 6 and begin <= int(words[4]) + int(words[5]) / 1e6 < stop:
                    found.append(int(words[2]))
        return found

    def _psql(self, query):
        return self._home.run(["psql", "-h", self._home.path, "-U", "bench", "-Atqc", query, "postgres"], 20)

    def _answers(self):
        if not os.path.exists(os.path.join(self._home.path, ".s.PGSQL.5432")):
            return False
        try:
            return self._psql("select 1").strip() == "1"
        except LifeError:
            return False


def _last_time(path):
    try:
        with open(path, "rb") as f:
            f.seek(max(0, os.path.getsize(path) - 4096))
            lines = [line.split() for line in f.read().split(b"\n")[1:-1]]
        return max((int(w[4]) + int(w[5]) / 1e6 for w in lines if len(w) >= 6), default=0)
    except OSError:
        return 0
