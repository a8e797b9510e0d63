# SPDX-License-Identifier: MIT
"""Modules of CPython's own tests (package libpython3.11-testsuite) that do what a tracer may disturb: signals, threads, fork, sockets."""
import re

from home import Home

PYTHON = "/usr/bin/python3.11"
MODULES = ("test_signal", "test_threading", "test_subprocess", "test_ctypes", "test_socket", "test_asyncio")
QUICK = ("test_signal", "test_threading")
PROBES = ("--function", "*", "--function", "libc.so.6:*")
RESULT = re.compile(r"^(\w+ \([\w.]+\))(?: ?\.\.\.|\n.*?\.\.\.) (?:.*?)(ok|FAIL|ERROR|skipped|expected failure|unexpected success)", re.M)


class Suite:
    def __init__(self, build):
        self.home = Home(build)
        self.close = self.home.close

    def parts(self, quick):
        return QUICK if quick else MODULES

    def run(self, module, traced):
        out = self.home.run([PYTHON, "-m", "test", "-v", module], PROBES if traced else None)
        return dict(RESULT.findall(out))
