# SPDX-License-Identifier: MIT
"""A pure computation over lines from stdin: the workload for tracing python3."""
import collections
import hashlib
import json
import sys

seen = collections.Counter()
total = 0
for number, line in enumerate(sys.stdin.buffer, 1):
    index, word, value = line.split()
    seen[word.decode()] += int(value) % 1009
    total = (total * 31 + int(hashlib.sha256(line).hexdigest()[:8], 16)) % 1000000007
    if number % 200 == 0:
        text = json.dumps(dict(sorted(seen.items())))
        print(number, total, sum(k * v for k, v in enumerate(json.loads(text).values())), flush=True)
