# SPDX-License-Identifier: MIT
"""The language of tests/targets/target.h spoken by python3: every round is the same computation."""
import json
import re
import sys


def one_round():
    text = json.dumps({f"key {i}": [i, str(i * i), i / 7] for i in range(300)}, indent=1)
    words = sorted(re.findall(r"\w+", text), key=len)
    return sum(int(w) for w in words if w.isdigit()) % 1000003


one_round()
print("ready", flush=True)
for _ in sys.stdin:
    print(f"result {one_round()}\ndone", flush=True)
