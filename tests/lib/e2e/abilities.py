# SPDX-License-Identifier: MIT
"""What the machine does not let a case do: a chroot and many containers forbid namespaces. Such a case is skipped."""
import functools
import re
import shlex
import subprocess

from .process import Skip, become

# The words of unshare(1) up to the command it starts; those with a number are of --time.
UNSHARE = re.compile(r"\bunshare((?:\s+(?!--(?:\s|$))-\S+(?:\s+\d+)?)+)")
BWRAP = "bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc --die-with-parent true"


@functools.lru_cache(maxsize=None)
def obstacle(command, who):
    """Why `who` cannot run the command; empty if they can."""
    try:
        done = subprocess.run([*become(who), *shlex.split(command)], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"it ends with {done.returncode}"


def trials(case):
    """Commands that must work for the case to work."""
    text = [case.settings.get("inside", ""), *(value for key, value, _ in case.steps if key in ("sh", "run", "start"))]
    for words in text:
        for flags in UNSHARE.findall(words):
            yield f"unshare {' '.join(flags.split())} true"
        if re.search(r"\bbwrap\b", words):
            yield BWRAP


def check_abilities(case):
    who = case.settings.get("target-as") or case.settings.get("as")
    for command in trials(case):
        if why := obstacle(command, who):
            raise Skip(f"needs `{command}`, which this machine forbids: {why}")
