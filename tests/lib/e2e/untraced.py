# SPDX-License-Identifier: MIT
"""The oracle every case has: the same program without blip. Its output must be the same."""
import subprocess

from .process import Failure

TIMEOUT = 120


def comparable(output):
    """Lines that start with `info` differ from run to run (pids, addresses)."""
    return [line for line in output.splitlines() if not line.startswith(b"info")]


class Untraced:
    def __init__(self):
        self.known = {}

    def compare(self, scene):
        argv = scene.target.argv
        data = scene.feeder.input() if scene.feeder else b"go\n" * scene.rounds
        key = (argv[0].rpartition("/")[2], tuple(argv[1:]), hash(data))
        if key not in self.known:
            done = subprocess.run(argv, input=data, capture_output=True, cwd=scene.directory, env=scene.env,
                                  timeout=TIMEOUT)
            self.known[key] = (done.returncode, comparable(done.stdout), comparable(done.stderr))
        code, out, err = self.known[key]
        for name, expected, path in (("stdout", out, scene.target.out_path), ("stderr", err, scene.target.err_path)):
            actual = comparable(path.read_bytes())
            if code == 0 and actual != expected:
                at = next((i for i, (a, b) in enumerate(zip(actual, expected)) if a != b), min(len(actual), len(expected)))
                show = [lines[at][:200] if at < len(lines) else b"(nothing)" for lines in (actual, expected)]
                raise Failure(f"the target's {name} differs from an untraced run in line {at + 1}: {show[0]} / {show[1]}")
