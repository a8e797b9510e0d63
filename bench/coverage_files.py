#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the files that `make coverage` and the benchmark's coverage rows look at."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from harness import coverage  # noqa: E402

print("\n".join(coverage.files().values()))
