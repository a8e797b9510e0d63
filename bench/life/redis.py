# SPDX-License-Identifier: MIT
"""redis-benchmark (GET, 20 connections, no pipelining) on redis-server, over a unix socket, nothing saved."""
import csv
import os
import shutil
import subprocess

from .sample import LifeError, Sample
from .server import Home

NAME = "redis"
LABEL = "redis-benchmark GET"
SERVER = "/usr/bin/redis-check-rdb"  # Debian: one program with several names; this one is in redis-tools
CONNECTIONS = 20
EVERYWHERE = False
NO_LTTNG = "redis has no LTTng tracepoints; they would have to be compiled in"
CHECKS = {}
PROBE_REQUESTS = 500


def unavailable():
    for tool in (SERVER, "redis-benchmark"):
        if not shutil.which(tool):
            return f"{tool} is not installed (package redis-tools)"
    return None


class Workload:
    binary = SERVER

    def __init__(self, scope, settings):
        self._home = Home(scope, "bench-redis-")
        self._socket = os.path.join(self._home.path, "socket")
        self._server = self._home.serve(
            ["redis-server", "--port", "0", "--unixsocket", self._socket, "--save", "", "--appendonly", "no"],
            lambda: os.path.exists(self._socket), executable=SERVER)

    def pids(self):
        return [self._server.pid]

    def measure(self, seconds):
        rate = self._get(PROBE_REQUESTS, 30).throughput  # how many requests are about so many seconds
        return self._get(max(PROBE_REQUESTS, int(rate * seconds)), 30 + 10 * seconds)

    def _get(self, requests, timeout):
        try:
            done = subprocess.run(["redis-benchmark", "-s", self._socket, "-t", "get", "-n", str(requests), "-c",
                                   str(CONNECTIONS), "--csv"], capture_output=True, text=True, timeout=timeout,
                                  check=False, **self._home.as_user)
        except subprocess.TimeoutExpired as e:
            raise LifeError("redis-benchmark took too long") from e
        rows = list(csv.DictReader(done.stdout.strip().split("\n")))
        if done.returncode != 0 or not rows:
            raise LifeError(f"redis-benchmark: status {done.returncode}: {done.stderr.strip()[-200:]}")
        row = rows[-1]
        return Sample(float(row["rps"]), float(row["avg_latency_ms"]), float(row["p99_latency_ms"]))
