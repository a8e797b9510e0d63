#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs SystemTap's own scripts on blip: tests/suites/systemtap.py --build build DIR [--only parse|semantic|compile|run] [--list]

DIR is a checkout of SystemTap (2e5a105) with its testsuite/. Nothing of it is in this repository but the names of the files that count, in
tests/suites/systemtap/*.list. They were chosen once, before the first run, by this rule (--list prints what it gives):

parse     parseok/*.stp, which must be accepted by --parse-only, and parseko/*.stp, which must be refused
semantic  the same of semok and semko, with --check
compile   all scripts of semok, buildok, transok, systemtap.base, .maps, .printf, .string, .context and .exelib: accepted by --check
run       tests SUBDIR/NAME.exp that say what SUBDIR/NAME.stp prints: it must print that

Shell scripts are left out, and, but for parse, files that name probes, functions or variables of the kernel, or embedded C (KERNEL below).
What fails has a line with its reason in tests/suites/systemtap/failures; one that is not there, and a line without a failure, is an error.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent / "systemtap"
KERNEL = re.compile(r"kernel\.|kernel\(|kernel<|@kernel|syscall|kprobe|module\(|netfilter|perf\.|procfs|%\{|\bvm\.|scheduler|signal\.|tcp\.|socket|"
                    r"kderef|ioblock|nfs|vfs\.|kprocess|java|python|input\.|irq|task_|kernel_(string|int|long|short|char|pointer)|printk|dump_stack")
ROOMS = ["semok", "buildok", "transok"] + ["systemtap." + n for n in "base maps printf string context exelib".split()]
ARGUMENTS = ["1", "2", "3", "4", "5", "6", "7", "8"]  # for scripts that want some
EXPECTED = re.compile(r"set +(?:::)?result_string +\{(.*?)\}\s*$", re.S | re.M)


def first_line(path):
    with open(path, errors="replace") as f:
        return f.readline()


def is_shell(path):
    return re.match(r"#! ?/bin/(ba)?sh", first_line(path)) is not None


def is_of_user_space(path):
    return not KERNEL.search(path.read_text(errors="replace"))


def scripts(suite, room, only_user_space=True):
    return [str(p.relative_to(suite)) for p in sorted((suite / room).glob("*.stp"))
            if not is_shell(p) and (is_of_user_space(p) or not only_user_space)]


def expected_output(exp):
    found = EXPECTED.search(exp.read_text(errors="replace"))
    return found[1] if found else None


def choose(suite):
    """What the rule gives: {part: names}."""
    names = {"parse": scripts(suite, "parseok", False) + scripts(suite, "parseko", False),
             "semantic": scripts(suite, "semok") + scripts(suite, "semko"),
             "compile": [n for room in ROOMS for n in scripts(suite, room)], "run": []}
    for room in ROOMS:
        for exp in sorted((suite / room).glob("*.exp")):
            stp = exp.with_suffix(".stp")
            if stp.exists() and not is_shell(stp) and is_of_user_space(stp) and expected_output(exp) is not None:
                names["run"].append(str(stp.relative_to(suite)))
    return names


def options_of_test(suite, name):
    """What its .exp gives to stap: -D, -G, and arguments without variables of Tcl."""
    exp = (suite / name).with_suffix(".exp").read_text(errors="replace")
    found = re.search(r"stap_run\w* +\$srcdir/\$subdir/\$test\.stp +([^\n]*)\n\s*\}?", exp.split("else", 1)[-1]) or re.search(r"stap_run\w* +\$srcdir/\$subdir/\$test\.stp +([^\n]*)", exp)
    words = [w.strip('"') for w in (found[1].split() if found else []) if "$" not in w and not w.startswith("--runtime")]
    return [w for w in words if re.match("-[DG].*=", w)], [w for w in words if not w.startswith("-") and w != "}"]


def as_hex(data):
    """As od writes bytes, without white space: tests of binary output compare that."""
    return " ".join(f"{byte:02x}" for byte in data)


def blip_run(build, suite, name, options, arguments=()):
    guru = ["-g"] if re.search(r"stap.* -[a-z]*g", first_line(suite / name)) else []
    try:
        return subprocess.run([build / "blip", "run", *options, *guru, name, *arguments], cwd=suite, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as e:
        return subprocess.CompletedProcess(e.cmd, -1, e.stdout or b"", b"it did not end")


def first_error(done):
    lines = done.stderr.decode(errors="replace").splitlines()
    return lines[0][:160] if lines else f"exit {done.returncode}"


def check(build, suite, part, name):
    """None if it is right, else why not."""
    if part == "run":
        limits, arguments = options_of_test(suite, name)
        done = blip_run(build, suite, name, ["--lang", "stap", *limits], arguments)
        exp = (suite / name).with_suffix(".exp")
        wanted, shown = expected_output(exp).strip(), done.stdout.decode(errors="replace").strip()
        if "stap_run_binary" in exp.read_text(errors="replace"):
            wanted, shown = " ".join(wanted.split()), as_hex(done.stdout)
        if shown == wanted:
            return None
        return first_error(done) if done.returncode else "it prints something else"
    done = blip_run(build, suite, name, ["--lang", "stap", "--parse-only" if part == "parse" else "--check"], ARGUMENTS)
    if name.split("/")[0].endswith("ko"):
        return None if done.returncode else "it is accepted"
    return first_error(done) if done.returncode else None


def known_failures():
    result = collections.defaultdict(dict)
    for line in (HERE / "failures").read_text().splitlines():
        if line and not line.startswith("#"):
            part, name, reason = line.split(None, 2)
            result[part][name] = reason
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build")
    parser.add_argument("--only", choices=["parse", "semantic", "compile", "run"], action="append")
    parser.add_argument("--list", action="store_true", help="write the lists by the rule; they are frozen: for another version of the suite only")
    parser.add_argument("--verbose", action="store_true", help="show known failures too")
    parser.add_argument("suite", type=pathlib.Path)
    options = parser.parse_args()
    suite = options.suite.resolve() / "testsuite"
    if options.list:
        for part, names in choose(suite).items():
            (HERE / f"{part}.list").write_text("\n".join(names) + "\n")
        return
    known, is_wrong = known_failures(), False
    for part in options.only or ["parse", "semantic", "compile", "run"]:
        names = (HERE / f"{part}.list").read_text().split()
        failed = {name: why for name in names if (why := check(options.build.resolve(), suite, part, name))}
        print(f"systemtap: {part}: {len(names) - len(failed)} of {len(names)} right ({100 * (len(names) - len(failed)) / len(names):.1f} %)")
        for name, why in failed.items():
            if name not in known[part] or options.verbose:
                print(f"  {part} {name} {why}")
        passed = [name for name in known[part] if name not in failed]
        for name in passed:
            print(f"  {part} {name} is right now: take its line out of failures")
        is_wrong |= bool(passed) or any(name not in known[part] for name in failed)
    sys.exit(is_wrong)


if __name__ == "__main__":
    main()
