# SPDX-License-Identifier: MIT
"""The language of tests/targets/target.h spoken by python3: the first round imports a module that brings libraries with it."""
import sys

print("ready", flush=True)
for _ in sys.stdin:
    import bz2

    print(f"result {len(bz2.compress(b'x' * 100000))}\ndone", flush=True)
