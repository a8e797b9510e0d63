# SPDX-License-Identifier: MIT
"""Reads a trace back with readers that are not blip's: babeltrace2 and babeltrace 1.5."""
import re
import shutil
import subprocess
import types

from .process import Failure

READ_TIMEOUT = 120
HEAD = re.compile(r"^\[([^\]]*)\] \([^)]*\) (?:\S+?:.*?:\(\d+\) )?(.*?): \{")  # time, (delta), host:comm:(pid), name
# "text", ( "LABEL" : container = 5 ) or a number
FIELD = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|\( .*? : container = ([^ )]+) \)|([^,{}\s(]+))')
DISCARDED = re.compile(r"[Dd]iscarded (\d+) event")


def _is_event(line):
    """One of the user's: not what tells readers where files are mapped."""
    return line.startswith("[") and not re.search(r" (lttng_ust_statedump|lttng_ust_lib|blip_statedump):", line)


def _run(argv):
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=READ_TIMEOUT)
    noise = [l for l in done.stderr.splitlines() if l.strip() and not DISCARDED.search(l)]
    wrong = [l for l in noise if re.search(r"error|fatal|corrupt|invalid|truncat", l, re.I)]
    if done.returncode != 0 or wrong:
        text = "\n".join((wrong or noise)[:8])
        raise Failure(f"{' '.join(map(str, argv))}: exit {done.returncode}\n{text}")
    return done


def count_events(directory):
    """(events, discarded) as babeltrace2 sees them."""
    done = _run(["babeltrace2", str(directory)])
    lines = sum(map(_is_event, done.stdout.splitlines()))
    return lines, sum(int(n) for n in DISCARDED.findall(done.stderr))


def check_readable(directory):
    """Both readers read to the end and agree. Returns (events, discarded)."""
    events, discarded = count_events(directory)
    if shutil.which("babeltrace"):
        done = _run(["babeltrace", str(directory)])
        lines = sum(map(_is_event, done.stdout.splitlines()))
        if lines != events:
            raise Failure(f"babeltrace2 reads {events} events, babeltrace 1.5 reads {lines} in {directory}")
    return events, discarded


def _value(quoted, bare):
    if not bare:
        return quoted
    for number in (lambda text: int(text, 0), float):
        try:
            return number(bare)
        except ValueError:
            pass
    return bare


def read_events(directory):
    """[event]: .name, .time (ns since midnight, as babeltrace2 prints it) and one attribute per field."""
    events = []
    for line in _run(["babeltrace2", "--clock-seconds", str(directory)]).stdout.splitlines():
        head = HEAD.match(line)
        if not head or not _is_event(line):
            continue
        fields = {name: _value(quoted, labelled or bare) for name, quoted, labelled, bare in FIELD.findall(line)}
        fields["name"] = head[2]
        seconds, _, nanos = head[1].partition(".")
        fields["time"] = int(seconds) * 10**9 + int(nanos)
        events.append(types.SimpleNamespace(**fields))
    return events


LOSS = re.compile(r'discarded (\d+) events? between \[([\d.]+)\] and \[([\d.]+)\].*?cpu(\d+)', re.S)


def read_holes(directory):
    """[hole]: .count events of CPU .cpu_id were discarded between .begin and .end (as .time of events)."""
    def ns(text):
        seconds, _, nanos = text.partition(".")
        return int(seconds) * 10**9 + int(nanos)

    text = _run(["babeltrace2", "--clock-seconds", str(directory)]).stderr
    return [types.SimpleNamespace(count=int(n), begin=ns(begin), end=ns(end), cpu_id=int(cpu))
            for n, begin, end, cpu in LOSS.findall(text)]
