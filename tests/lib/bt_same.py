#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bt_same.py: runs scripts without a target under bpftrace and under blip; fails unless both print the same. As root.

bpftrace 0.17 is Debian's. The scripts are those that it and 0.26 print alike, but for blanks at the ends of lines and between the
objects of a JSON array."""
import json
import subprocess
import sys

SCRIPTS = [
    r'printf("%d %5d|%-5d|%05d %x %X %o %u %c\n", 1, 2, 3, 4, 255, 255, 8, 7, 65)',
    r'printf("%5s|%-5s|%s\n", "ab", "ab", "ab")',
    r'printf("%d %lld %hhx\n", -1, -1, 511)',
    r'print(1 + 2 * 3 - 4 / 2)', r'print((1, 2, "three"))', r'print("text")', r'print((1, (2, "x")))',
    r'$a = 5; $a++; $a += 3; print($a)', r'print(7 % 3); print(1 << 4); print(6 & 3); print(6 | 3); print(6 ^ 3)',
    r'if (1 > 2) { print(1) } else { print(2) }', r'$i = 0; while ($i < 3) { print($i); $i++ }',
    r'$i = 0; unroll(3) { $i += 2; } print($i)', r'$x = 1 ? 5 : 6; print($x)',
    r'@ = 5', r'@a = 1; @b = "hi"', r'@[1] = 10; @[2] = 5; @[3] = 7', r'@["b"] = 1; @["a"] = 2; @["c"] = 0',
    r'@[1, "x"] = 3; @[2, "y"] = 1', r'@x[5] = "five"; @x[1] = "one"', r'@[1] = count(); @[1] = count(); @[2] = count()',
    r'@ = sum(10); @ = sum(20)', r'@ = min(5); @ = min(3)', r'@ = max(5); @ = max(9)', r'@ = avg(10); @ = avg(20)',
    r'@[1] = sum(5); @[2] = sum(3)',
    r'@ = hist(0); @ = hist(1); @ = hist(2); @ = hist(1000); @ = hist(5000000)', r'@["k"] = hist(7)',
    r'@ = hist(-5); @ = hist(3)', r'@ = lhist(5, 0, 100, 10); @ = lhist(55, 0, 100, 10); @ = lhist(500, 0, 100, 10)',
    r'@ = lhist(-5, 0, 100, 10); @ = lhist(0, 0, 100, 10)', r'@[2] = lhist(3, 0, 10, 2); @[1] = lhist(5, 0, 10, 2); @[1] = lhist(5, 0, 10, 2)',
    r'@[1] = 1; @[2] = 2; @[3] = 3; print(@, 2); clear(@)', r'@[1] = 100; print(@, 0, 10); clear(@)', r'@x[1] = 3; delete(@x[1]); @x[2] = 1',
    r'$t = (1, "a"); print($t.1)', r'@[1] = (1, 2)', r'print(strncmp("abc", "abd", 2))',
    r'printf("%r\n", buf("hi\x01", 3))', r'print(0x1f); print(1e3)', r'@ = stats(10); @ = stats(30); clear(@)',
    r'printf("%s\n", str($1))', r'print($#)',
]
JSON = [
    r'printf("a\n")', r'@ = 5', r'@[1, "x"] = 3', r'@ = hist(5); @ = hist(100)', r'@["k"] = lhist(5, 0, 10, 2)', r'print((1, "a"))',
    r'@[1] = count()',
]


def run(command, script):
    done = subprocess.run([*command, script], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("Attaching")]
    lines = [line.rstrip() for line in lines if '"attached_probes"' not in line]
    if "json" in command:
        lines = [json.dumps(json.loads(line)) for line in lines if line]
    return "\n".join(lines).strip("\n"), done.stderr


def main():
    different = 0
    for scripts, options in ((SCRIPTS, []), (JSON, ["-f", "json"])):
        for body in scripts:
            script = "BEGIN { " + body + "; exit(); }" if not body.rstrip().endswith("}") else "BEGIN { " + body + " exit(); }"
            theirs, told = run(["bpftrace", "-q", *options, "-e"], script)
            ours, said = run(["blip", "run", "--quiet", "--lang", "bpftrace", *options, "-e"], script)
            if theirs != ours:
                different += 1
                print(f"{options} {script}\n--- bpftrace\n{theirs}\n{told.strip()}\n--- blip\n{ours}\n{said.strip()}\n")
    print(f"{len(SCRIPTS) + len(JSON)} scripts, {different} different")
    return different != 0


if __name__ == "__main__":
    sys.exit(main())
