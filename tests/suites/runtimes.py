# SPDX-License-Identifier: MIT
"""Programs of languages with a runtime of their own, under the load of its garbage collector: tests/suites/programs. Each checks what it made and
prints sums that are the same in every run. Probed in two ways: thousands of functions of the runtime from the first instruction on; and blips that
attach to the running program with one set of functions after the other, and leave.
"""
import itertools
import os
import pathlib
import subprocess
import sys

from home import Home
from e2e import state

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / "programs"
GO = {"GOCACHE": "{dir}/cache", "GO111MODULE": "off", "CGO_ENABLED": "0", "GOFLAGS": ""}
WAYS = (("count", "--function"), ("count", "--return"), ("record", "--function"))
# blip says these of a program that ends just then, and of a runtime that has no returns to probe.
EXCUSES = ("has ended", "ended while", "no such process", "nothing can be armed")

# argv, what is probed from the start, what comes and goes. libjvm.so comes after the start, and a trace has room for a thousand events of such.
PROGRAMS = {
    "node": (("node", SOURCES / "gc_load.js", 5000), ("--function", "*"), ("v8::internal::*Heap*", "uv_*", "*Mark*", "*:memcpy")),
    "java": (("java", "-Xmx96m", "-cp", "{dir}", "GcLoad", 5000),
             ("--function", "*", "--function", "libc.so.6:*", "--function", "libjvm.so:*GC*", "--function", "libjvm.so:JVM_*"),
             ("libjvm.so:*", "libjvm.so:*G1*", "libjvm.so:*Signal*", "libc.so.6:*", "libzip.so:*")),
    "go": (("{dir}/go", 40), ("--function", "*"), ("runtime.*", "main.*", "*")),
    "rust": (("{dir}/rust", 3000), ("--function", "*", "--function", "libc.so.6:*"), ("*", "libc.so.6:*", "heap_load::*")),
}
BUILDS = {
    "java": ("javac", "-d", "{dir}", SOURCES / "GcLoad.java"),
    "go": ("go", "build", "-o", "{dir}/go", SOURCES / "gc_load.go"),
    "rust": ("/usr/bin/rustc", "-O", "-g", "-o", "{dir}/rust", SOURCES / "heap_load.rs"),
}


class Suite:
    def __init__(self, build):
        self.home = Home(build)
        self.close = self.home.close
        self.dir = self.home.path / "built"
        self.dir.mkdir()
        env = {**os.environ, **{key: value.format(dir=self.dir) for key, value in GO.items()}}
        for words in BUILDS.values():
            subprocess.run(self.filled(words), check=True, env=env)

    def filled(self, words):
        return [str(word).format(dir=self.dir) for word in words]

    def parts(self, quick):
        return [f"{name} {how}" for name in PROGRAMS for how in (("come-and-go",) if quick else ("from-the-start", "come-and-go"))]

    def run(self, part, traced):
        """{line of the output: text}, and how it ended."""
        name, how = part.split()
        argv, probes, specs = PROGRAMS[name]
        argv = self.filled(argv)
        if traced and how == "come-and-go":
            code, out = self.come_and_go(argv, specs)
        else:
            code, out, _ = self.home.execute(argv, ("--wait-library", *probes) if traced else None)
        lines = out.splitlines()
        if traced and how == "from-the-start":  # blip's table comes after them
            lines = [line for line in lines if line.startswith(("thread ", "sum "))]
        return {"exit code": code, **{f"line {i}": line for i, line in enumerate(lines)}}

    def come_and_go(self, argv, specs):
        program = self.home.start(argv)
        sessions = 0
        for (verb, kind), spec in itertools.cycle(itertools.product(WAYS, specs)):
            if program.poll() is not None:
                break
            words = [verb, kind, spec, "-p", program.pid, "--max-probes", "2000000", "--duration", "200ms"]
            code, _, said = self.home.execute([self.home.path / "blip", *words, *(("-o", self.home.directory()) if verb == "record" else ())], None)
            if code != 0 and not any(text in said for text in EXCUSES):
                sys.exit(f"suites: blip {' '.join(map(str, words))} exits {code}: {said[-1000:]}")
            sessions += code == 0
            if program.poll() is None and not self.untouched(program):
                sys.exit(f"suites: blip {' '.join(map(str, words))} leaves something in {argv[0]}")
        print(f"suites: {sessions} sessions on {pathlib.Path(argv[0]).name}", flush=True)
        out = program.communicate()[0]
        return program.returncode, out.decode(errors="replace")

    @staticmethod
    def untouched(program):
        try:
            return state.untouched(program.pid)
        except (FileNotFoundError, ProcessLookupError):  # it ends
            return True
