# SPDX-License-Identifier: MIT
"""Real programs under load, untraced and traced in turn: what a user loses while looking.

A workload (one module each) has NAME, `unavailable()` and a class `Workload(scope, settings)` with
  binary      the executable whose functions are probed
  pids()      the processes to trace
  measure(s)  a Sample of about `s` seconds of load
"""
from . import make, pgbench, redis, sysbench
from .compare import rows

WORKLOADS = (pgbench, redis, sysbench, make)

__all__ = ["WORKLOADS", "rows"]
