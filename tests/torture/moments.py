# SPDX-License-Identifier: MIT
"""The moments of a command at which it may be disturbed, from strace's log of an undisturbed run.

A moment is the Nth call of one kind in a thread. Three tiers:
  must      what changes the target or the trace (MUST): every call
  distinct  of all other calls the first FEW and the last of each sort: the same call on the same kind of file (numbers left out) after
            the same change
  repeats   the rest, up to the MOSTth of a kind: the same again, such as the 50th look at a thread's state
"""
import collections
import re

KILL, SHORT = "KILL", "short"
FAULTS = {  # what may happen at each kind of call
    "ptrace": (KILL, "ESRCH", "EPERM", "EIO"),
    "process_vm_writev": (KILL, "ESRCH", "EPERM", "EFAULT", "ENOMEM", SHORT),
    "pwrite64": (KILL, "EIO", "EPERM", "ENOMEM", "EINTR", SHORT),
    "mmap": (KILL, "ENOMEM"),
    "ftruncate": (KILL, "ENOSPC", "EIO", "EINTR"),
    "write": (KILL, "ENOSPC", "EIO", "EINTR", SHORT),
    "process_vm_readv": (KILL, "ESRCH", "EPERM"),
    "pread64": (KILL, "EIO"),
    "fallocate": (KILL, "ENOSPC", "EIO", "EINTR"),
    "openat": (KILL, "EMFILE", "ENOMEM", "EIO"),
    "openat2": (KILL, "EMFILE", "EPERM"),
    "mkdir": (KILL, "ENOSPC"),
    "renameat": (KILL, "EIO"),
    "read": (KILL, "EIO", "EINTR"),
    "getdents64": (KILL, "EIO"),
    "waitid": (KILL, "EINTR"),
    "clone3": (KILL, "EAGAIN"),
    "munmap": (KILL,),
    "poll": (KILL, "EINTR", "ENOMEM"),
    "clock_nanosleep": (KILL, "EINTR"),
}
MUST = ("ptrace", "process_vm_writev", "pwrite64", "mmap", "ftruncate", "write")
CHANGES = (*MUST, "fallocate", "openat2", "mkdir", "renameat", "clone3", "munmap")
TIERS = ("must", "distinct", "repeats")
FEW, MOST = 3, 120
LOADED = "set_tid_address"  # the loader has mapped everything; made once by each process
LINE = re.compile(r"(\d+) +(\w+)\((.*)")
NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
FILE = re.compile(r'\d<([^>]*)>|"(/[^"]*)"')

Moment = collections.namedtuple("Moment", "subject verb call fault number")


def sort_of(call, arguments):
    """The request of a ptrace call; else the files that are named, by path or behind a descriptor."""
    if call == "ptrace":
        return arguments.split(",")[0]
    names = {NUMBER.sub("N", a or b) for a, b in FILE.findall(arguments)}
    return " ".join([call, *sorted(re.sub("map_files/.*", "map_files", name) for name in names)])


def sorts(log, begin):
    """{call: {sort: numbers}} of the calls after the first `begin` in the log, numbered per thread as strace does when it injects.
    What would meet the loader in the first thread is left out."""
    loading = collections.Counter(match[2] for match in map(LINE.match, log[:log.index(LOADED)].splitlines()) if match)
    numbers, change, found = collections.Counter(), {}, collections.defaultdict(lambda: collections.defaultdict(set))
    begun = False
    for line in log.splitlines():
        match = LINE.match(line)
        if match and match[2] in FAULTS:
            thread, call, arguments = match.groups()
            numbers[thread, call] += 1
            sort = sort_of(call, arguments)
            if begun and numbers[thread, call] > loading[call]:
                found[call][sort, change.get(thread)].add(numbers[thread, call])
            if call in CHANGES:
                change[thread] = sort
        begun = begun or begin in line
    return found


def moments(subject, verb, log, begin):
    """{tier: [Moment]}. Short writes are not strace's but short_writes.c's, which counts from the first call of the program on."""
    result = {tier: [] for tier in TIERS}
    for call, by_sort in sorts(log, begin).items():
        every = sorted(set().union(*by_sort.values()))
        distinct = {number for ns in map(sorted, by_sort.values()) for number in (*ns[:FEW], ns[-1])}
        for number in every:
            tier = "must" if call in MUST else "distinct" if number in distinct else "repeats"
            if tier != "repeats" or number <= every[0] + MOST:
                result[tier] += [Moment(subject, verb, call, fault, number) for fault in FAULTS[call]]
    return result
