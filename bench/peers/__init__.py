# SPDX-License-Identifier: MIT
"""Who is measured beside blip: one module per peer.

Each has NAME, `unavailable(scope)` that says why it cannot be measured here (or None), and
`start(scope, threads)` that returns its subjects, traced and warmed up.
"""
from . import blip, bpftrace, floor, gdb, lttng, perf, uftrace

ALL = (floor, lttng, blip, bpftrace, perf, uftrace, gdb)
