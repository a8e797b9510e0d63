# SPDX-License-Identifier: MIT
"""What an event costs at best: hand-written pads without any check (floor.c), and the untraced call."""
from harness.target import Target

from .subject import Subject

NAME = "floor"
LABELS = {
    "plain": "floor: plain call",
    "rdtsc": "floor: rdtsc alone",
    "rdtsc_twice": "floor: rdtsc twice",
    "jump": "floor: jump out and back",
    "rseq_event": "floor: event, rseq",
    "rseq_count": "floor: count, rseq",
    "locked_event": "floor: event, lock cmpxchg",
}
TWO_THREADS = ("plain", "rdtsc_twice", "rseq_event", "rseq_count")


def unavailable(_scope):
    return None


def start(scope, threads):
    subjects = [Subject("untraced", "untraced call", Target(scope, "bench_target"), plain=None)]
    target = Target(scope, "bench_floor")
    for variant, label in LABELS.items():
        plain = "floor.plain" if variant != "plain" else None
        subjects.append(Subject(f"floor.{variant}", label, target, variant, plain=plain,
                                two_threads=variant in TWO_THREADS))
    for subject in subjects:
        subject.target.run(subject.variant, 4, subject.calls, 5, threads)
    return subjects
