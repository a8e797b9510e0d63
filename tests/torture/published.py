# SPDX-License-Identifier: MIT
"""What a trace of the target `published` must hold, whenever that was killed."""
import collections
import re
import struct

from e2e import trace
from stage import Wrong


def check_published(directory, files, said):
    """Every published call is in the trace; nothing is in it twice, and no call between the first and the last is missing."""
    last = re.search(r"blip: (\d+) events, (\d+) discarded, (\d+) skipped", said)
    if not last:
        raise Wrong(f"no closing line: {said}")
    events, discarded, skipped = map(int, last.groups())
    calls = collections.defaultdict(list)
    for event in trace.read_events(directory):
        calls[event.vtid].append(event.rdi)
    if sum(map(len, calls.values())) != events:
        raise Wrong(f"blip says {events} events, babeltrace2 reads {sum(map(len, calls.values()))}")
    progress = [(tid, done) for file in files for tid, done in struct.iter_unpack("QQ", file.read_bytes()) if tid]
    published = sum(done for _, done in progress)
    # A thread may have been killed between its last event and publishing the call.
    if not published <= events + discarded + skipped <= published + len(progress):
        raise Wrong(f"{published} calls were published by {len(progress)} threads, blip accounts for {events} + {discarded} + {skipped}")
    if discarded or skipped:
        return events  # then nothing more is promised but the numbers
    for tid, done in progress:
        got = calls.pop(tid, [])
        if got != list(range(1, len(got) + 1)):
            raise Wrong(f"thread {tid}: its calls are not 1, 2, 3 ...: {got[:5]} ... {got[-5:]}")
        if len(got) < done:
            raise Wrong(f"thread {tid} had published {done} calls, the trace has {len(got)}")
    return events
