#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs end-to-end cases: tests/run.py --blip build/blip --targets build/targets [--case TEXT] [FILE.t ...]

A failing case keeps its directory and prints the command that runs it again. See tests/lib/e2e/steps.py for the keys.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import time
import traceback
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lib"))
import cgroup  # noqa: E402
from e2e import cases  # noqa: E402
from e2e.abilities import check_abilities  # noqa: E402
from e2e.process import USER_ID, Failure, Skip, become, describe  # noqa: E402
from e2e.reach import reachable  # noqa: E402
from e2e.scene import Scene  # noqa: E402
from e2e.steps import KEYS, Steps  # noqa: E402
from e2e.untraced import Untraced  # noqa: E402

CASE_TIMEOUT = 30


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blip", type=pathlib.Path, required=True)
    parser.add_argument("--targets", type=pathlib.Path, required=True)
    parser.add_argument("--case", help="only cases whose name contains this")
    parser.add_argument("--without", help="no cases whose name contains this")
    parser.add_argument("--times", type=int, default=1, help="run every case this often")
    parser.add_argument("--keep", action="store_true", help="keep the directories of passing cases too")
    parser.add_argument("--list", action="store_true", help="print the names and do nothing")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    return parser.parse_args()


def stage_tools(options, base):
    """A copy of blip, and targets, that an ordinary user can run, wherever the build directory lies."""
    stage = base / "bin"
    stage.mkdir()
    shutil.copy(options.blip, stage / "blip")
    tree, targets = HERE.parent, options.targets.resolve()
    if targets.is_relative_to(tree):
        place = reachable(tree, [targets, HERE / "lib"], base / "tree")
        targets, lib = place / targets.relative_to(tree), place / "tests" / "lib"
    else:
        lib = HERE / "lib"
    return types.SimpleNamespace(stage=stage, targets=targets, lib=lib, untraced=Untraced())


def check_needs(case):
    become(case.settings.get("as"))
    become(case.settings.get("target-as"))
    for need in case.settings.get("needs", "").split():
        if need == "root" and os.geteuid() != 0:
            raise Skip("needs root")
        if need == "cgroup" and not cgroup.usable():
            raise Skip("needs a cgroup hierarchy with cpu and memory that it may write to")
        if need == "freezer" and not cgroup.freezer_usable():
            raise Skip("needs a cgroup hierarchy that freezes and that it may write to")
        if need.startswith("/"):
            if not os.path.exists(need):
                raise Skip(f"needs {need}")
        elif need not in ("root", "cgroup", "freezer") and not shutil.which(need, path="/usr/sbin:/usr/bin:/sbin:/bin"):
            raise Skip(f"needs {need}")
    check_abilities(case)


def make_directory(case, base):
    directory = pathlib.Path(tempfile.mkdtemp(prefix=case.file.stem + ".", dir=base))
    if case.settings.get("as") == "user" and os.geteuid() == 0:
        os.chown(directory, USER_ID, USER_ID)
    directory.chmod(0o755)
    return directory


def run_case(case, directory, tools):
    deadline = time.monotonic() + float(case.settings.get("timeout", CASE_TIMEOUT))
    scene = Scene(case.settings, directory, tools, deadline)
    steps = Steps(scene)
    line = case.line
    try:
        if "target" in case.settings or "program" in case.settings:
            scene.start_target()
        for key, value, line in case.steps:
            getattr(steps, KEYS[key])(value)
        steps.settle()
        steps.finish()
    except Failure as failure:
        ended = scene.target and scene.target.code()
        note = f" (the target {describe(ended)})" if ended else ""
        raise Failure(f"{case.file.name}:{line}: {failure}{note}") from None
    finally:
        scene.clean_up()


def show_output(directory):
    for path in sorted(directory.glob("*.err")) + sorted(directory.glob("*.out")):
        lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
        for line in lines[:6]:
            print(f"    {path.name}: {line[:300]}")
        if len(lines) > 6:
            print(f"    {path.name}: ... {len(lines)} lines")


def attempt(case, options, base, tools):
    """Runs one case and says how it went: 'passed', 'failed' or 'skipped'."""
    directory, begin = None, time.monotonic()
    try:
        check_needs(case)
        directory = make_directory(case, base)
        run_case(case, directory, tools)
    except Skip as reason:
        print(f"skip {case.title()}: {reason}")
        return "skipped"
    except Exception as error:
        reason = str(error) if isinstance(error, Failure) else traceback.format_exc()
        print(f"FAIL {case.title()}\n    " + reason.replace("\n", "\n    "))
        if directory:
            show_output(directory)
            print(f"    kept: {directory}")
        name = case.name.removesuffix(" [root]").removesuffix(" [user]")
        print("    again: " + shlex.join([os.path.relpath(sys.argv[0]), "--blip", str(options.blip), "--targets",
                                          str(options.targets), "--case", name, os.path.relpath(case.file)]))
        return "failed"
    print(f"ok   {case.title()} ({time.monotonic() - begin:.1f} s)")
    if not options.keep:
        shutil.rmtree(directory)
    return "passed"


def main():
    options = parse_options()
    sys.stdout.reconfigure(line_buffering=True)
    files = options.files or sorted((HERE / "run").glob("*.t"))
    wanted = [c for f in files for c in cases.load(f.resolve(), KEYS)
              if (not options.case or options.case in c.name) and not (options.without and options.without in c.name)]
    if options.list:
        print("\n".join(c.title() for c in wanted))
        return 0
    base = pathlib.Path(tempfile.mkdtemp(prefix="e2e."))
    base.chmod(0o755)
    tools = stage_tools(options, base)
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for case in wanted * options.times:
        count[attempt(case, options, base, tools)] += 1
    shutil.rmtree(base / "tree", ignore_errors=True)
    if not count["failed"] and not options.keep:
        shutil.rmtree(base)
    print(", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["failed"] or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
