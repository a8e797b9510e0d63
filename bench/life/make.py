# SPDX-License-Identifier: MIT
"""Building a C project with make: gcc's compiler proper is traced from its first instruction, in each of its processes.

gcc runs cc1 under `-wrapper blip,record,...,--`: a trace per file. perf and LTTng follow make's children themselves. The
functions are malloc and its kin of libc, for which LTTng has ready tracepoints in a library to preload, and a cut through
those of cc1.
"""
import glob
import os
import shutil
import subprocess
import sys
import time

from harness import blip, lttng, uprobes
from harness.rows import skipped
from harness.scope import run_group

from . import functions
from .compare import SECTION, make_row
from .sample import LifeError, Sample

NAME = "make"
LABEL = "make, a C project"
FILES, FUNCTIONS = 8, 240
MALLOC = ("malloc", "calloc", "realloc", "free")
PRELOAD = "/usr/lib/*-linux-gnu/liblttng-ust-libc-wrapper.so.1"
ROUNDS, SLOW_ROUNDS = 3, 1
MANY = 100
BUILD_TIMEOUT = 60
MAKEFILE = """MAKEFLAGS += -r
parts := {parts}
program: $(parts:%=part_%.o)
	gcc -o $@ $^ -pthread
part_%.o: part_%.s
	as -o $@ $<
part_%.s: part_%.c
	gcc -O1 -S $(subst @,$*,$(WRAPPER)) -o $@ $<
clean:
	rm -f *.s *.o program
.SECONDARY:
"""


def unavailable():
    for tool in ("make", "gcc", "as"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    return None


class Workload:
    def __init__(self, scope, settings):
        self._scope = scope
        self._settings = settings
        self._dir = scope.path("project")
        self._cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                                   check=True).stdout.strip()
        self._blip = blip.find(scope.build)
        self._write_project()

    def rows(self):
        """Untraced, blip, uprobes and LTTng on malloc; untraced, blip and uprobes on many functions of cc1."""
        libc = os.path.realpath(next(iter(glob.glob("/lib/*-linux-gnu/libc.so.6"))))
        probes = [f"libc.so.6:{name}" for name in MALLOC]
        ways = {"untraced": ("untraced", self._plain), "blip": ("blip record", lambda: self._by_blip(probes)),
                "uprobe": ("uprobes, perf record", lambda: self._by_perf(libc, MALLOC)),
                "lttng": ("LTTng-UST, preloaded", self._by_lttng)}
        result = self._compare("malloc", f"{LABEL}, {'/'.join(MALLOC)}", ways)
        try:
            chosen = functions.cut(self._called(), MANY)
        except LifeError as e:
            return result + [skipped(SECTION, f"life.{NAME}.{MANY}", f"{LABEL}, {MANY} functions of cc1", str(e))]
        ways = {"untraced": ("untraced", self._plain), "blip": ("blip record", lambda: self._by_blip(chosen)),
                "uprobe": ("uprobes, perf record", lambda: self._by_perf(self._cc1, chosen))}
        result += self._compare(str(MANY), f"{LABEL}, {len(chosen)} functions of cc1", ways)
        return result + [skipped(SECTION, f"life.{NAME}.{MANY}.lttng", f"{LABEL}, {MANY} functions of cc1: LTTng-UST",
                                 "gcc has no LTTng tracepoints; they would have to be compiled in")]

    def _compare(self, key, label, ways):
        samples, problems = {name: [] for name in ways}, {}
        for turn in range(min(ROUNDS, self._settings.life_rounds)):
            for name, (_, build) in ways.items():
                if name in problems or (name == "uprobe" and turn >= SLOW_ROUNDS):
                    continue
                try:
                    samples[name].append(build())
                except (LifeError, uprobes.UprobeError, lttng.LttngError) as e:
                    problems[name] = str(e)
        return [make_row(f"life.{NAME}.{key}.{name}", f"{label}: {title}", samples[name], samples["untraced"],
                         problems.get(name)) for name, (title, _) in ways.items()]

    # ---- the ways

    def _plain(self):
        return self._build()

    def _by_blip(self, probes):
        traces = self._scope.path("traces")
        os.mkdir(traces)
        try:
            return self._build(wrapper=self._wrapper("record", ["-o", f"{traces}/@"], probes))
        finally:
            self._scope.remove(traces)

    def _by_perf(self, path, names):
        why = uprobes.unavailable()
        if why:
            raise LifeError(why)
        event = uprobes.Event(self._scope, path, names)
        data = self._scope.path("perf.data")
        try:
            return self._build(["perf", "record", "-q", "-B", "-N", "-m", "2M", "-o", data, "-e",
                                event.name.replace("/", ":"), "--"])
        finally:
            event.remove()
            if os.path.exists(data):
                os.unlink(data)

    def _by_lttng(self):
        library = next(iter(glob.glob(PRELOAD)), None)
        why = self._settings.unavailable.get("lttng") or lttng.unavailable(self._scope, None)
        if why or not library:
            raise LifeError(why or "liblttng-ust-libc-wrapper is not installed (package liblttng-ust1)")
        daemon = lttng.Daemon(self._scope)
        try:
            session = lttng.Session(daemon, "make", {"malloc": (["lttng_ust_libc:*"], ())})
            sample = self._build(env=dict(daemon.env, LD_PRELOAD=library))
            sample.lost = session.stop() or 0
            self._scope.remove(session.output)
        finally:
            daemon.end()
        return sample

    # ---- the project

    def _write_project(self):
        os.mkdir(self._dir)
        generator = os.path.join(os.path.dirname(__file__), "..", "gen_functions.py")
        for part in range(FILES):
            with open(os.path.join(self._dir, f"part_{part}.c"), "wb") as f:
                subprocess.run([sys.executable, generator, str(FUNCTIONS), str(FILES), str(part)], stdout=f, check=True)
        with open(os.path.join(self._dir, "Makefile"), "w", encoding="utf-8") as f:
            f.write(MAKEFILE.format(parts=" ".join(map(str, range(FILES)))))

    def _build(self, prefix=(), wrapper="", env=None):
        """A Sample of one build from nothing."""
        subprocess.run(["make", "-s", "clean"], cwd=self._dir, check=True)
        begin = time.monotonic()
        try:
            done = run_group([*prefix, "make", "-s", f"-j{os.cpu_count()}", f"WRAPPER={wrapper}"], BUILD_TIMEOUT,
                             cwd=self._dir, env=dict(os.environ, **(env or {})))
        except subprocess.TimeoutExpired as e:
            raise LifeError(f"not built after {BUILD_TIMEOUT} s") from e
        if done.returncode != 0 or not os.path.exists(os.path.join(self._dir, "program")):
            said = [line for line in done.stderr.split("\n") if line.startswith("blip:")] or done.stderr.split("\n")
            raise LifeError(f"the build failed: {said[0][:150]}")
        seconds = time.monotonic() - begin
        sample = Sample(1 / seconds, seconds * 1000)
        summaries = [[int(n) for n in found] for found in blip.SUMMARY.findall(done.stderr)]
        if wrapper and len(summaries) != FILES:
            raise LifeError(f"{FILES} files compiled, {len(summaries)} traces")
        if wrapper:
            sample.hits_per_s = sum(map(sum, summaries)) / seconds
            sample.lost = sum(discarded + skipped_ for _, discarded, skipped_ in summaries)
        return sample

    def _wrapper(self, verb, options, probes):
        words = [self._blip, verb, *options]
        for probe in probes:
            words += ["--function", probe]
        return "-wrapper " + ",".join(words + ["--"])

    def _called(self):
        """Functions of cc1 by calls in compiling one file."""
        if not self._blip:
            raise LifeError("blip is not built")
        wrapper = self._wrapper("count", ["--json", "-q", "--max-probes", functions.MAX_PROBES], ["*"]).split(" ", 1)
        try:
            done = run_group(["gcc", "-O1", "-S", *wrapper, "-o", os.devnull, "part_1.c"], BUILD_TIMEOUT,
                             cwd=self._dir)
        except subprocess.TimeoutExpired as e:
            raise LifeError("counting all functions of cc1 took too long") from e
        if done.returncode != 0:
            said = [line for line in done.stderr.split("\n") if line.startswith("blip:")] or ["no message"]
            raise LifeError(said[0])
        return functions.rank(done.stdout, self._cc1)
