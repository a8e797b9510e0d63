# SPDX-License-Identifier: MIT
"""SQLite's testfixture, built from Debian's source: all its functions, and every instruction of its core."""
import pathlib
import re
import subprocess

from home import Home

HERE = pathlib.Path(__file__).resolve().parent
WHOLE = ("veryquick.test",)
EVERY_INSTRUCTION = ("select1.test", "where.test", "func.test", "json101.test", "trigger1.test", "window1.test")
QUICK = ("select1.test", "func.test")
PER_TEST = re.compile(r"^(\S+)\.\.\. (Ok|Omitted)?", re.M)
FAILED = re.compile(r"^! (\S+)", re.M)
TOTAL = re.compile(r"^(\d+) errors out of (\d+) tests", re.M)


class Suite:
    def __init__(self, build):
        self.home = Home(build)
        self.source = build / "suites" / "sqlite"
        subprocess.run([HERE / "build_sqlite.sh", self.source], check=True)
        self.close = self.home.close

    def parts(self, quick):
        if quick:
            return [f"{name} every-instruction" for name in QUICK]
        return [f"{name} functions" for name in WHOLE] + [f"{name} every-instruction" for name in EVERY_INSTRUCTION]

    def run(self, part, traced):
        """{test: Ok}; those that failed, and the totals, as results of their own."""
        name, what = part.split()
        probes = {"functions": ("--function", "*"), "every-instruction": ("--every-instruction", "*")}[what]
        out = self.home.run([self.source / "testfixture", self.source / "test" / name], probes if traced else None)
        results = dict(PER_TEST.findall(out))
        results.update({f"! {test}": "failed" for test in FAILED.findall(out)})
        if total := TOTAL.search(out):
            results["errors, tests"] = total.groups()
        return results
