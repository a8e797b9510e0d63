#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the user-space part of bpftrace's own runtime tests and parser tests against blip.

    tests/suites/bpftrace.py DIR [--blip build/blip] [--kept FILE] [--only REGEX]
    tests/suites/bpftrace.py DIR --freeze      writes the lists of the names that count
    tests/suites/bpftrace.py DIR --parser      the parser's cases (tests/parser.cpp), by bt_parse beside blip: all of them count,
                                               with the kernel's probes, since only the parser is asked

DIR is a checkout of bpftrace; nothing of it is in this repository. bpftrace.names has the names that count. They were chosen by
the rule below before the first run: a case counts unless its text asks for what only the kernel has.

The rule (is_of_user_space): a case is left out if
  - a probe in its script, or in the script file that it names, is one of the kernel's (kprobe, tracepoint, fentry, software, ...)
    or one that later versions of blip will have (bench, test, import, getopt);
  - it uses a word of the kernel (kstack, curtask, cgroup, ksym, kaddr, jiffies, skboutput, ...) or one that changes the target
    (signal, write_user, override);
  - it asks for a feature of the kernel (btf, kernel functions, ...) or for another machine than x86_64;
  - it is about bpftrace's own process: its options, its log of the kernel's verifier, its --info, its AOT compiler.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = HERE / "bpftrace.names"
KERNEL_PROBES = r"\b(kprobe|kretprobe|k|kr|tracepoint|t|rawtracepoint|rt|fentry|fexit|f|fr|kfunc|kretfunc|iter|it|hardware|h|" \
                r"software|s|watchpoint|w|asyncwatchpoint|aw|bench|test)(:|\.)[\w*./\"$]"
KERNEL_WORDS = r"\b(kstack|curtask|cgroup|cgroupid|cgroup_path|ksym|kaddr|kptr|jiffies|skboutput|numaid|percpu_kaddr|" \
               r"socket_cookie|kfunc_exist|kfunc_allowed|task_struct|sk_buff|signal_thread|write_user|override|unwatch|" \
               r"getopt|import|__builtin_cpid)\b|\bpath\(|\bsignal\(|\bctx\b|vmlinux|linux/"
FEATURES_WE_HAVE = {"dwarf", "blazesym", "lookup_percpu_elem", "get_func_ip", "uprobe_refcount", "get_tai_ns", "libpath_resolv",
                    "uprobe_multi", "signal"}
OPTIONS = r"--(info|aot|dry-run|fmt|mode|btf|emit|verify|no-feature|probes|lint|traceable)|-d\b|-dd|--debug|--help|-V\b|-k\b|-kk|-lv?\b"


class Case:
    def __init__(self, file):
        self.file, self.fields = file, []

    def all(self, key):
        return [v for k, v in self.fields if k == key]

    def one(self, key, default=""):
        found = self.all(key)
        return found[0] if found else default

    @property
    def name(self):
        return f"{self.file}.{self.one('NAME')}"


def read_cases(directory):
    cases = []
    for path in sorted((directory / "tests/runtime").iterdir()):
        if not path.is_file():
            continue
        current = last = None
        for line in path.read_text().splitlines():
            if line.startswith("#") or not line.strip():
                continue
            if line[0].isspace() and current and last:
                key, value = current.fields[-1]
                current.fields[-1] = (key, value + "\n" + line.strip() if key.startswith("EXPECT") else value + "\n" + line)
                continue
            key, _, value = line.partition(" ")
            if key == "NAME":
                current = Case(path.name)
                cases.append(current)
            if current:
                current.fields.append((key, value))
                last = key
    return cases


def text_of(case, directory):
    text = case.one("PROG") or case.one("RUN")
    for word in re.findall(r"runtime/[\w./-]+\.bt", text):
        path = directory / "tests" / word
        if path.is_file():
            text += "\n" + path.read_text()
    return text


def is_of_user_space(case, directory):
    text = text_of(case, directory)
    if re.search(KERNEL_PROBES, text) or re.search(KERNEL_WORDS, text):
        return False
    if case.one("RUN") and (re.search(OPTIONS, case.one("RUN")) or "{{BPFTRACE}}" not in case.one("RUN")):
        return False
    if set(case.one("REQUIRES_FEATURE").replace("!", "no_").split()) - FEATURES_WE_HAVE:
        return False
    arch = case.one("ARCH")
    if arch and not re.search(r"x86_64|\ble\b|^!(?!x86)", arch):
        return False
    return not re.search(r"bpftool|Kernel log|BPFTRACE_LOG_SIZE|nsenter|unshare", text + case.one("ENV") + " ".join(case.all("EXPECT")))


def build_programs(directory, into):
    into.mkdir(parents=True, exist_ok=True)
    flags = ["-g", "-O0", "-fno-omit-frame-pointer", "-w", f"-I{directory}/tests/include", "-pthread"]
    sources = into.parent / "sources"  # debugging information names them: cases expect paths of plain words
    if not sources.exists():
        shutil.copytree(directory / "tests/testprogs", sources)
    for source in sorted(sources.glob("*.c*")):
        if source.suffix not in (".c", ".cpp"):
            continue
        program = into / source.stem
        if program.exists():
            continue
        compiler = "cc" if source.suffix == ".c" else "c++"
        extra = ["-ldl", "-lm"] + (["-fomit-frame-pointer"] if "nofp" in source.stem else [])
        subprocess.run([compiler, *flags, "-no-pie", str(source), "-o", str(program), *extra], stderr=subprocess.DEVNULL)
        subprocess.run([compiler, *flags, "-fPIE", "-pie", str(source), "-o", f"{program}-pie", *extra], stderr=subprocess.DEVNULL)
    for source in sorted((directory / "tests/testlibs").glob("*.c")):
        library = into.parent / "testlibs" / f"lib{source.stem}.so"
        library.parent.mkdir(exist_ok=True)
        if not library.exists():
            subprocess.run(["cc", "-g", "-shared", "-fPIC", str(source), "-o", str(library)], stderr=subprocess.DEVNULL)


def command_of(case, blip):
    """The words that blip is run with, for a shell."""
    run = case.one("RUN")
    if run:
        run = run.replace("{{BPFTRACE}}", f"{blip} run --lang bpftrace")
        return re.sub(r" -q\b| --no-feature=\S+| -B\s+\S+", "", run)
    quoted = case.one("PROG").replace("'", "'\\''")
    is_json = any(k == "EXPECT_JSON" for k, _ in case.fields)
    return f"{blip} run --lang bpftrace {'-q -f json' if is_json else ''} -e '{quoted}'"


def run_case(case, blip, work):
    environment = dict(os.environ, TZ="UTC")
    for pair in case.one("ENV").split():
        key, _, value = pair.partition("=")
        environment[key] = value
    command = command_of(case, blip)
    timeout = float(case.one("TIMEOUT", "5") or 5) + 10
    started, out = [], tempfile.NamedTemporaryFile("w+", errors="replace")
    # What a case starts before or after runs beside blip; blip is told whom to trace.
    for line in case.all("SETUP"):
        subprocess.run(line, shell=True, cwd=work, env=environment, capture_output=True, timeout=20)
    pid_option = ""
    needs_target = re.search(r"\b(u|ur|uprobe|uretprobe|usdt|U|profile|p):", command) and " -c " not in command and " -p " not in command
    for line in case.all("BEFORE"):
        child = subprocess.Popen(line, shell=True, cwd=work, env=environment, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        started.append(child)
        time.sleep(0.3)
        program = line.split()[0]
        found = subprocess.run(["pgrep", "-g", str(os.getpgid(child.pid))], capture_output=True, text=True).stdout.split()
        if needs_target and found:
            pid_option = f" -p {found[-1]}"
        command = command.replace("{{BEFORE_PID}}", found[-1] if found else "0")
    after = case.all("AFTER")
    if needs_target and not pid_option and after:
        # bpftrace probes the file; blip traces the command itself.
        program = re.sub(r"^sleep \d+;? *(&& *)?", "", after[0]).replace("'", "'\\''")
        command += f" -c '{program}'"
        after = []
    command += pid_option
    child = subprocess.Popen(command, shell=True, cwd=work, env=environment, stdout=out, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    deadline = time.time() + timeout
    for line in after:
        time.sleep(0.7)
        started.append(subprocess.Popen(line, shell=True, cwd=work, env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True))
    gentle = time.time() + float(case.one("TIMEOUT", "5") or 5)
    while child.poll() is None and time.time() < deadline:
        out.flush()
        so_far = Path(out.name).read_text(errors="replace")
        if (not wrong_with(case, so_far, work) and time.time() > gentle - 3) or time.time() > gentle:
            os.killpg(child.pid, signal.SIGINT)
            gentle = time.time() + 5
        time.sleep(0.05)
    for process in [child, *started]:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    for line in case.all("CLEANUP"):
        subprocess.run(line, shell=True, cwd=work, env=environment, capture_output=True, timeout=20)
    output = Path(out.name).read_text(errors="replace")
    wrong = wrong_with(case, output, work)
    code = case.one("RETURN_CODE")
    if not wrong and code and child.returncode != int(code):
        wrong = f"exit code {child.returncode} in place of {code}"
    return wrong, output


# bpftrace's line "Attached N probes" is blip's "armed": some cases expect any line there.
def with_status_line(output):
    return "blip: running\n" + output


def wrong_with(case, output, work):
    output = with_status_line(output)
    for key, expected in case.fields:
        ok = True
        if key == "EXPECT":
            ok = re.search(rf"^\s*{re.escape(expected)}\s*$", output, re.M)
        elif key == "EXPECT_NONE":
            ok = not re.search(rf"^\s*{re.escape(expected)}\s*$", output, re.M)
        elif key == "EXPECT_REGEX":
            ok = re.search(expected, output, re.M)
        elif key == "EXPECT_REGEX_NONE":
            ok = not re.search(expected, output, re.M)
        elif key == "EXPECT_FILE":
            ok = output_of_script(output).strip() == (work / expected).read_text().strip()
        elif key == "EXPECT_JSON":
            ok = is_same_json(output, work / expected)
        if not ok:
            return f"{key} {expected}".replace("\n", "\\n")[:150]
    return ""


def output_of_script(output):
    return "\n".join(line for line in output.splitlines() if not line.startswith("blip: "))


def is_same_json(output, path):
    lines = [line for line in output_of_script(output).splitlines() if line.strip()]
    wanted = path.read_text().strip().splitlines() if path.suffix == ".ndjson" else [json.dumps(json.load(open(path)))]
    try:
        return [json.loads(line) for line in lines] == [json.loads(line) for line in wanted]
    except ValueError:
        return False


def reason(wrong, output):
    for line in output.splitlines():
        if line.startswith("blip: ") and not re.match(r"blip: (armed|\d+ events|hits|notice)", line):
            return line[:160]
    last = [line for line in output_of_script(output).splitlines() if line.strip()]
    return f"{wrong} | {last[-1][:100] if last else 'no output'}"


def runtime(options):
    cases = {c.name: c for c in read_cases(options.directory)}
    if options.freeze:
        names = sorted(n for n, c in cases.items() if is_of_user_space(c, options.directory))
        NAMES.write_text("".join(n + "\n" for n in names))
        print(f"{len(names)} of {len(cases)} cases count")
        return 0
    names = [n for n in NAMES.read_text().splitlines() if not options.only or re.search(options.only, n)]
    work = Path(options.work or tempfile.mkdtemp(prefix="bpftrace_suite_"))
    build_programs(options.directory, work / "testprogs")
    # comm is the name of the program: the cases know it as bpftrace.
    shutil.copy(options.blip, work / "bpftrace")
    options.blip = str(work / "bpftrace")
    for part in ("runtime",):
        target = work / part
        if not target.exists():
            shutil.copytree(options.directory / "tests" / part, target)
    passed, failures = 0, []
    for name in names:
        case = cases.get(name)
        if not case:
            failures.append((name, "the suite has no such case any more"))
            continue
        try:
            wrong, output = run_case(case, options.blip, work)
        except Exception as error:  # noqa: BLE001: one case never ends the run
            wrong, output = f"the runner: {error}", ""
        if wrong:
            failures.append((name, reason(wrong, output)))
            print("FAILED", name, "|", failures[-1][1], flush=True)
        else:
            passed += 1
    print(f"{passed} of {len(names)} passed ({100 * passed / max(1, len(names)):.1f} %)")
    if options.kept:
        Path(options.kept).write_text("".join(f"{n}: {why}\n" for n, why in failures))
    return 0


def unescaped(match):
    code = match.group(1)
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(code, code)


def texts_of_cpp(source, begin):
    """The string literals that are the first argument of a call which begins there; None: it is no plain literal."""
    text, at = "", begin
    while True:
        match = re.compile(r"\s*(?:std::string\()?\s*").match(source, at)
        at = match.end()
        raw = re.compile(r'R"(\w*)\(').match(source, at)
        if raw:
            end = source.index(f'){raw.group(1)}"', raw.end())
            text += source[raw.end():end]
            at = end + len(raw.group(1)) + 2
        elif source[at] == '"':
            end = at + 1
            while source[end] != '"':
                end += 2 if source[end] == "\\" else 1
            text += re.sub(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", unescaped, source[at + 1:end])
            at = end + 1
        else:
            return (text, at) if text and source[at] in ",)" else (None, at)


def parser_cases(directory):
    source = (directory / "tests/parser.cpp").read_text()
    cases = []
    for match in re.finditer(r"\b(test|test_parse_failure)\(\s*(?:\w*bpftrace\w*\s*,\s*)?(?=\"|R\"|std::string\()", source):
        try:
            text, _ = texts_of_cpp(source, match.end())
        except (ValueError, IndexError):
            continue
        if text is not None:
            line = source.count("\n", 0, match.start()) + 1
            cases.append((line, match.group(1) == "test", text))
    return cases


def parser(options):
    passed, failures = 0, []
    cases = parser_cases(options.directory)
    for line, is_accepted, text in cases:
        result = subprocess.run([str(Path(options.blip).parent / "bt_parse")], input=text, capture_output=True, text=True,
                                timeout=30)
        said = (result.stderr.strip().splitlines() or [""])[0]
        if (result.returncode == 0) == is_accepted:
            passed += 1
        else:
            failures.append((line, "refused" if is_accepted else "accepted", text.replace("\n", "\\n")[:100], said))
            print("FAILED", *failures[-1], sep=" | ")
    print(f"{passed} of {len(cases)} parser cases ({100 * passed / max(1, len(cases)):.1f} %)")
    if options.kept:
        Path(options.kept).write_text("".join(" | ".join(map(str, f)) + "\n" for f in failures))
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("directory", type=lambda d: Path(d).resolve())
    p.add_argument("--blip", default="build/blip", type=lambda f: str(Path(f).resolve()))
    p.add_argument("--kept", help="a file that gets a line with its reason for each failure")
    p.add_argument("--only", help="names that match")
    p.add_argument("--work", help="where the test programs are built and kept")
    p.add_argument("--freeze", action="store_true")
    p.add_argument("--parser", action="store_true")
    options = p.parse_args()
    return parser(options) if options.parser else runtime(options)


if __name__ == "__main__":
    sys.exit(main())
