#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands of pages and compares their output with what the pages show.

    tests/pages.py --blip build/blip docs/tutorial.md
    tests/pages.py --blip build/blip --show docs/tutorial.md     prints what the commands say today, to be pasted

A page is Markdown. Its ```console blocks hold commands, which begin with "$ ", and below each what it prints. All commands of
a page run in one shell, in an empty directory in which `examples` is the folder of that name. A command must exit with 0, and
print what the page shows: a line "..." stands for any lines, "..." inside a line for any text. HTML comments, which readers
do not see, say more:

    <!-- vary: time tid NAME= P99 -->    what differs from run to run, in all blocks below it (docs/tutorial.md has an example):
                                          a kind (see KINDS), a field with its = (in JSON too), a column by its heading; order:
                                          rows of tables may come in any order
    <!-- vary+: HITS -->                  the same, for the next block only, beside what the page has
    <!-- setup: COMMAND -->               a command that runs without being shown
    <!-- holds: EXPRESSION -->            Python that must be true of the output above: out, at(ROW, COLUMN),
                                          count(REGEX), found(REGEX)
    <!-- exits: N -->                     the next block's commands exit with N
    <!-- hits -->                         the next block shows no output; each of its commands must have had events
    <!-- not run: REASON -->              the next block is not run

After a page has passed, each line it shows is altered, word by word, and dropped: every such lie must be found.
"""
import argparse
import dataclasses
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
COMMAND_SECONDS = 60
ROWS, COLUMNS = 40, 120
DURATION = r"\d+(?:\.\d+)? (?:ns|us|ms|s|min)\b"
KINDS = {  # each is replaced on the page and in the output by the same word
    "time": (r"\[\d\d:\d\d:\d\d\.\d{9}\] \(\+[\d?]+\.[\d?]{9}\)", "<time>"),
    "tid": (r"(?<=^<time> )\d+", "<tid>"),
    "duration": (DURATION, "<duration>"),
    "address": (r"0x[0-9a-f]{5,}", "<address>"),
    "events": (r"\b\d+(?= events?\b)", "<number>"),
    "pid": (r"(?<=-)\d{2,}-\d{8}-\d{6}\b|(?<=pid )\d+", "<pid>"),
    "process": (r"\S+:(\w+):\(\d+\)", r"<host>:\1:(<pid>)"),
}
NOTICES = re.compile(r"^blip: still .*\n", re.M)  # only where something takes long, on a machine under load
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(?: (ns|us|ms|s|min))?$")
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, None: 1}


class Failure(Exception):
    pass


# ---- pages ----

@dataclasses.dataclass
class Command:
    text: str
    line: int
    shown: str = ""
    vary: tuple = ()
    exits: int = 0
    mode: str = "compare"  # or "setup", "hits"
    holds: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Page:
    commands: list = dataclasses.field(default_factory=list)
    not_run: list = dataclasses.field(default_factory=list)  # (line, reason)


COMMENT = re.compile(r"<!-- ([\w ]+\+?)(?:: (.*?))? -->$")


def commands_of(lines, first):
    """The commands of a block, each with what is shown below it."""
    found, continued = [], False
    for number, line in enumerate(lines, first):
        if line.startswith("$ "):
            found.append(Command(line[2:], number))
        elif not found:
            raise Failure(f"line {number}: a block begins with a command: '$ ...'")
        elif continued:
            found[-1].text += "\n" + line
        else:
            found[-1].shown += line + "\n"
            continue
        continued = line.endswith("\\")
    return found


def read_page(text):
    page, vary, once, lines, i = Page(), (), {}, text.split("\n"), 0
    while i < len(lines):
        line, i = lines[i].strip(), i + 1
        if comment := COMMENT.match(line):
            key, value = comment[1], comment[2] or ""
            if key == "vary":
                vary = tuple(value.split())
            elif key == "setup":
                page.commands.append(Command(value, i, mode="setup"))
            elif key == "holds":
                page.commands[-1].holds.append((value, i))
            elif key in ("vary+", "exits", "hits", "not run"):
                once[key] = value
            else:
                raise Failure(f"line {i}: unknown comment '{key}'")
        elif line.startswith("```"):
            begin = i
            while lines[i].strip() != "```":
                i += 1
            if line == "```console" and "not run" in once:
                page.not_run.append((begin, once["not run"]))
            elif line == "```console":
                for command in commands_of(lines[begin:i], begin + 1):
                    command.vary = vary + tuple(once.get("vary+", "").split())
                    command.exits = int(once.get("exits", 0))
                    command.mode = "hits" if "hits" in once else "compare"
                    page.commands.append(command)
            once, i = {}, i + 1
    return page


# ---- comparing ----

def cells(line):
    return re.split(r" {2,}", line.strip())


def without_columns(text, headings, any_order):
    """The text with the cells of some columns of its tables replaced. The rows are sorted if they may come in any order."""
    out, head, rows = [], [], []
    for line in [*text.split("\n"), ""]:
        row = cells(line)
        if head and row == ["..."]:
            rows.append("...")
            continue
        if head and len(row) == len(head):
            rows.append("  ".join("<cell>" if h in headings else cell for h, cell in zip(head, row)))
            continue
        out += sorted(rows) if any_order else rows
        head, rows = row if any(h in row for h in headings) else [], []
        out.append("  ".join(row) if head else line)
    return "\n".join(out[:-1])


def normalized(text, vary):
    text = NOTICES.sub("", text)
    for name, (pattern, word) in KINDS.items():
        if name in vary:
            text = re.sub(pattern, word, text, flags=re.M)
    for name in vary:
        if name.endswith("="):
            word = re.escape(name[:-1])
            text = re.sub(rf"\b{word} = (?:\"(?:[^\"\\]|\\.)*\"|[^\s,}}]+)|\"{word}\":[^,}}]+", f"{name} <value>", text)
    if headings := {name for name in vary if name.isupper()}:
        text = without_columns(text, headings, "order" in vary)
    return re.sub(r"(?<=\S) {2,}", "  ", text.rstrip("\n"))


def line_pattern(line):
    return ".*".join(re.escape(part) for part in line.split("..."))


def matches(expected, actual):
    pattern = "".join(r"(?:.*\n)+" if line.strip() == "..." else line_pattern(line) + "\n"
                      for line in (expected + "\n").splitlines())
    return re.fullmatch(pattern, actual + "\n") is not None


def agrees(command, output):
    return matches(normalized(command.shown, command.vary), normalized(output, command.vary))


def lies(expected):
    """The expected text with one word changed, or one line less, in all ways."""
    lines = expected.split("\n")
    for i, line in enumerate(lines):
        if line.strip() == "...":
            continue
        beside = [other.strip() for other in lines[max(0, i - 1):i + 2]]
        if "..." not in beside:
            yield "\n".join(lines[:i] + lines[i + 1:]) if len(lines) > 1 else "another text"
        for word in re.finditer(r"[A-Za-z_]+|\d+", line):
            text = word.group()
            other = str(int(text) + 1) if text.isdigit() else text + "x"
            yield "\n".join(lines[:i] + [line[:word.start()] + other + line[word.end():]] + lines[i + 1:])


def find_lies(command, output):
    """How many lies the comparison finds; Failure at one that it does not find."""
    expected, actual, found = normalized(command.shown, command.vary), normalized(output, command.vary), 0
    for lie in lies(expected) if command.shown else ():
        if matches(lie, actual):
            raise Failure(f"line {command.line}: this lie is not found:\n{lie}")
        found += 1
    return found


def table_cell(output, row, column):
    """A cell of the table in the output, by the row's first cell; durations in nanoseconds."""
    head = []
    for line in output.split("\n"):
        words = cells(line)
        if column in words:
            head = words
        elif head and words[0] == row and len(words) == len(head):
            number = NUMBER.match(words[head.index(column)])
            return float(number[1]) * UNITS[number[2]] if number else words[head.index(column)]
    raise Failure(f"the output has no cell at '{row}', '{column}'")


def check_claims(command, output):
    names = {"out": output, "at": lambda row, column: table_cell(output, row, column),
             "count": lambda regex: len(re.findall(regex, output, re.M)), "found": lambda regex: set(re.findall(regex, output, re.M))}
    for claim, line in command.holds:
        if not eval(claim, names):  # the page is part of this tree, as the tests are
            raise Failure(f"line {line}: this does not hold: {claim}\n{output}")


# ---- running ----

class Shell:
    """One bash on a terminal of its own, as a reader has it."""

    def __init__(self, directory, blip):
        self.terminal, end = pty.openpty()
        termios.tcsetwinsize(end, (ROWS, COLUMNS))
        env = {"PATH": f"{blip.parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(directory), "LC_ALL": "C.UTF-8",
               "TERM": "dumb",
               "BLIP_CACHE": "off"}
        self.directory, self.count = directory, 0
        self.bash = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=end, stderr=end, cwd=directory, env=env,
                                     start_new_session=True)
        os.close(end)

    def run(self, command):
        """(output, exit status)"""
        self.count += 1
        script = self.directory / f".command-{self.count}"
        script.write_text(command.text + "\n")
        mark = f"\x1e{self.count}:"
        self.bash.stdin.write(f". ./{script.name}; printf '\\x1e%d:%d\\x1e' {self.count} $?\n".encode())
        self.bash.stdin.flush()
        output, deadline = "", time.monotonic() + COMMAND_SECONDS
        while not re.search(f"{mark}\\d+\x1e", output):
            if not select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failure(f"line {command.line}: no end after {COMMAND_SECONDS} s: {command.text}\n{output}")
            output += os.read(self.terminal, 1 << 16).decode(errors="replace")
        script.unlink()
        text, _, status = output.partition(mark)
        return text.replace("\r\n", "\n"), int(status.split("\x1e")[0])

    def end(self):
        """Ends the shell and what it started, which is all in its session."""
        listed = subprocess.run(["ps", "-o", "pid=", "-s", str(self.bash.pid)], capture_output=True, text=True).stdout.split()
        for pid in [int(pid) for pid in listed if int(pid) != self.bash.pid] + [self.bash.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.bash.stdin.close()
        self.bash.wait()
        os.close(self.terminal)


def check_hits(command, output):
    """A one-liner: blip's own last line, or table, tells that there was something."""
    summary = re.search(r"^blip: (\d+) events?", output, re.M)
    if summary and int(summary[1]) == 0 or not summary and not output.strip():
        raise Failure(f"line {command.line}: nothing was seen: {command.text}\n{output}")


def run_command(shell, command, show):
    output, status = shell.run(command)
    if show and command.mode != "setup":
        print(f"$ {command.text}\n{NOTICES.sub('', output)}", end="")
    if status != command.exits:
        raise Failure(f"line {command.line}: exits with {status}, not {command.exits}: {command.text}\n{output}")
    if command.mode == "hits":
        check_hits(command, output)
    if command.mode == "compare" and not show and not agrees(command, output):
        raise Failure(f"line {command.line}: another output than the page shows: {command.text}\n{output}--- compared as\n"
                      f"{normalized(output, command.vary)}\n--- with\n{normalized(command.shown, command.vary)}")
    check_claims(command, output)
    return find_lies(command, output) if command.mode == "compare" and not show else 0


def run_page(path, blip, show):
    page = read_page(path.read_text())
    directory = pathlib.Path(tempfile.mkdtemp(prefix="page."))
    (directory / "examples").symlink_to(TREE / "examples")
    shell = Shell(directory, blip)
    try:
        found = sum([run_command(shell, command, show) for command in page.commands])
    finally:
        shell.end()
        shutil.rmtree(directory, ignore_errors=True)
    name = path.resolve().relative_to(TREE) if path.resolve().is_relative_to(TREE) else path.name
    for line, reason in page.not_run:
        print(f"{name}:{line}: not run: {reason}")
    print(f"{name}: {len(page.commands)} commands, {found} lies found, {len(page.not_run)} blocks not run")
    if not page.commands:
        raise Failure("no command")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blip", type=pathlib.Path, required=True)
    parser.add_argument("--show", action="store_true", help="print what the commands say instead of comparing it")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = 0
    for path in options.pages:
        try:
            run_page(path, options.blip.resolve(), options.show)
        except Failure as failure:
            print(f"FAIL {path}: {failure}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
