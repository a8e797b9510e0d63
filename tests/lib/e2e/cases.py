# SPDX-License-Identifier: MIT
"""Reads .t files: blocks of `key: value` lines, each block led by `case: NAME`.

Lines before the first case are defaults of the file. `#` starts a comment line, an indented line continues the one
before. SETTINGS may stand anywhere in a case; all other keys are steps, done in the order they stand in.

  each: WORDS         one case per word, which replaces $EACH wherever it stands
  target: NAME ARGS   a program of tests/targets (copied to the case's directory; `with` copies more files), speaking
                      the language of target.h
  program: CMD        a real program; `feed: KIND` keeps it working with input from feeder.py
  inside: CMD         words before the target's own that start it elsewhere (unshare, bwrap, chroot ...)
  prepare: SHELL      what is done in the case's directory before the target starts; its lines key=value become $key
  as: WHO             root, user (an unprivileged one), both (two cases); target-as: the target alone
  needs: WORDS        root, cgroup, freezer, or commands and files that must be installed; else the case is skipped
  state: WORDS        parts of the visible state to compare (state.py), and/or loose
  timeout: SECONDS    for the whole case
"""
import dataclasses
import pathlib

SETTINGS = {"each", "target", "with", "inside", "prepare", "program", "feed", "as", "target-as", "needs", "state", "timeout"}


@dataclasses.dataclass
class Case:
    name: str
    file: pathlib.Path
    line: int
    settings: dict
    steps: list  # of (key, value, line number)

    def title(self):
        return f"{self.file.stem}: {self.name}"


class Malformed(Exception):
    pass


def _lines(path):
    """Yields (number, key, value) with continuation lines joined."""
    pending = None
    for number, raw in enumerate(path.read_text().splitlines(), 1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        if raw[0].isspace():
            if not pending:
                raise Malformed(f"{path}:{number}: nothing to continue")
            pending = (pending[0], pending[1], pending[2] + "\n" + raw.strip())
            continue
        if pending:
            yield pending
        key, colon, value = raw.partition(":")
        if not colon:
            raise Malformed(f"{path}:{number}: expected 'key: value', found '{raw}'")
        pending = (number, key.strip(), value.strip())
    if pending:
        yield pending


def _each(case):
    """One case per word of `each`."""
    def put(value):
        return value.replace("$EACH", word)
    for word in case.settings.get("each", "").split():
        yield dataclasses.replace(case, name=f"{case.name}: {word}",
                                  settings={key: put(value) for key, value in case.settings.items()},
                                  steps=[(key, put(value), line) for key, value, line in case.steps])
    if "each" not in case.settings:
        yield case


def _both(case):
    """`as: both` is two cases."""
    if case.settings.get("as") != "both":
        return [case]
    return [dataclasses.replace(case, name=f"{case.name} [{who}]", settings={**case.settings, "as": who})
            for who in ("root", "user")]


def load(path, known_steps):
    defaults, cases = {}, []
    for number, key, value in _lines(path):
        if key == "case":
            cases.append(Case(value, path, number, dict(defaults), []))
        elif key in SETTINGS:
            (cases[-1].settings if cases else defaults)[key] = value
        elif key not in known_steps:
            raise Malformed(f"{path}:{number}: unknown key '{key}'")
        elif not cases:
            raise Malformed(f"{path}:{number}: '{key}' before the first case")
        else:
            cases[-1].steps.append((key, value, number))
    names = [c.name for c in cases]
    for name in names:
        if names.count(name) > 1:
            raise Malformed(f"{path}: two cases are called '{name}'")
    return [c for case in cases for one in _each(case) for c in _both(one)]
