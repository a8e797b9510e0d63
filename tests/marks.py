#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random programs with static marks: what blip reads as arguments is what the source says.

usage: tests/marks.py --blip build/blip [--programs N] [--seed N] [--sdt]

Every program has marks whose arguments are parameters, locals, constants, members, elements, globals and thread-local variables
of all sizes, in whatever form the compiler likes or an operand constraint asks for. It stores each value beside the mark and
prints them at its end. --sdt: by <sys/sdt.h> instead of tests/targets/mark.h.
"""
import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILDS = [("gcc", "-O0"), ("gcc", "-O1"), ("gcc", "-O2"), ("gcc", "-O3 -fomit-frame-pointer"), ("gcc", "-Os"), ("gcc", "-O2 -fPIE -pie"),
          ("gcc", "-O2 -fno-pie -no-pie"), ("gcc", "-O2 -static"), ("gcc", "-O3 -mavx2"), ("clang-14", "-O0"), ("clang-14", "-O1"),
          ("clang-14", "-O2"), ("clang-14", "-O3 -fno-pie -no-pie"), ("clang-14", "-Os -fPIE -pie")]
# C type, bytes, "signed", "unsigned" or "float"
TYPES = [("signed char", 1, "signed"), ("unsigned char", 1, "unsigned"), ("short", 2, "signed"), ("unsigned short", 2, "unsigned"),
         ("int", 4, "signed"), ("unsigned", 4, "unsigned"), ("long", 8, "signed"), ("unsigned long", 8, "unsigned"),
         ("float", 4, "float"), ("double", 8, "float")]
FUNCTIONS, MARKS, CALLS = 6, 5, 4


def short_name(ctype):
    return ctype.replace(" ", "_")


def declarations():
    members = " ".join(f"{t} m_{short_name(t)}[3];" for t, _, _ in TYPES)
    globals_ = "\n".join(f"{t} g_{short_name(t)}[8]; static {t} s_{short_name(t)}; static __thread {t} t_{short_name(t)};" for t, _, _ in TYPES)
    fill = "\n".join(f"  for (int i = 0; i < 8; ++i) g_{n}[i] = ({t})next(); s_{n} = ({t})next(); t_{n} = ({t})next();"
                     f" for (int i = 0; i < 3; ++i) all.m_{n}[i] = ({t})next();" for t, n in ((t, short_name(t)) for t, _, _ in TYPES))
    return f"""
struct All {{ {members} }};
{globals_}
static struct All all;
static unsigned long state = 88172645463325252ul;
static unsigned long next(void) {{ state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state >> (state % 48); }}
static void fill(void) {{
{fill}
}}
static unsigned long values[1 << 16];
static unsigned used;
static void is(const void* at, unsigned size) {{ unsigned long v = 0; memcpy(&v, at, size); values[used++ & 65535] = v; }}
"""


def argument(rnd, number):
    """Its C type, the expression, and operand constraints that fit."""
    ctype, size, kind = rnd.choice(TYPES)
    name = short_name(ctype)
    memory = [f"g_{name}[{rnd.randrange(8)}]", f"g_{name}[i & 7]", f"s_{name}", f"t_{name}", f"s->m_{name}[{rnd.randrange(3)}]",
              f"s->m_{name}[i & 1]", f"local_{name}[{rnd.randrange(4)}]", f"local_{name}[i & 3]"]
    computed = [f"({ctype})(a + {rnd.randrange(100)})", f"({ctype})(b * {rnd.randrange(1, 9)})", f"({ctype})d", f"({ctype})(i - 5)"]
    constant = [f"({ctype}){rnd.choice([0, 1, -1, 127, 200, 65535, -40000, 2**31 - 1])}"]
    if kind == "float":
        return rnd.choice([(ctype, size, kind, rnd.choice(memory), rnd.choice(["m", "o"])),
                           (ctype, size, kind, rnd.choice(memory + computed), "x")])
    return rnd.choice([(ctype, size, kind, rnd.choice(memory), rnd.choice(["m", "o", "nor", "g"])),
                       (ctype, size, kind, rnd.choice(memory + computed), rnd.choice(["nor", "r", "g"])),
                       (ctype, size, kind, rnd.choice(constant), rnd.choice(["n", "nor", "i", "r"])),
                       (ctype, size, kind, rnd.choice(computed), rnd.choice(["a", "b", "S", "q"] if size > 1 else ["q"]))])


def note_text(arguments):
    prefix = {"signed": "-{}", "unsigned": "{}", "float": "{}f"}
    return " ".join(prefix[kind].format(size) + f"@%{i}" for i, (_, size, kind, _, _) in enumerate(arguments))


def mark(rnd, name, sdt):
    arguments, fixed = [], set()
    for i in range(rnd.randrange(0, 6)):
        made = argument(rnd, i)
        if made[4] in "abS" and made[4] in fixed:
            continue
        fixed.add(made[4])
        arguments.append(made)
    copies = "\n".join(f"    {{ {t} v = {e}; is(&v, {size}); }}" for t, size, _, e, _ in arguments)
    if sdt:
        arguments = [a for a in arguments if a[4] != "x"] if False else arguments
        call = f"STAP_PROBEV(r, {name}{''.join(', ' + ('(%s)(%s)' % (t, e)) for t, _, _, e, _ in arguments)});"
    else:
        operands = ", ".join(f'"{c}"({e})' for _, _, _, e, c in arguments)
        call = f'MARK("r", "{name}", 0, "{note_text(arguments)}", {operands});'
    return f"    {call}\n{copies}\n", arguments


def program(rnd, sdt):
    marks = {}
    header = '#define SDT_USE_VARIADIC\n#include <sys/sdt.h>' if sdt else '#include "mark.h"'
    text = f'#include <stdio.h>\n#include <string.h>\n{header}\n' + declarations()
    for f in range(FUNCTIONS):
        body = ""
        for m in range(MARKS):
            name = f"m{f}_{m}"
            code, arguments = mark(rnd, name, sdt)
            marks[name] = arguments
            body += f"  if ((i + {m}) % {rnd.randrange(1, 3)} == 0) {{\n    values[used++ & 65535] = {f * MARKS + m};\n{code}  }}\n"
        locals_ = "".join(f"  {t} local_{short_name(t)}[4]; for (int k = 0; k < 4; ++k) local_{short_name(t)}[k] = ({t})(next() + a);\n" for t, _, _ in TYPES)
        text += f"__attribute__((noinline)) static long f{f}(long a, int b, double d, struct All* s, unsigned long i) {{\n{locals_}{body}  return a + b;\n}}\n"
    calls = "".join(f"    sum += f{f}((long)next(), (int)next(), (double)(next() & 0xffff) / 8, &all, (unsigned long)i);\n" for f in range(FUNCTIONS))
    text += f"""
int main(void) {{
  long sum = 0;
  for (int i = 0; i < {CALLS}; ++i) {{
    fill();
{calls}  }}
  for (unsigned n = 0; n < used; ++n) printf("%lu\\n", values[n]);
  return sum == 42;
}}
"""
    return text, marks


def bits_of(value, size, kind):
    if kind == "float":
        return int.from_bytes(struct.pack("<f" if size == 4 else "<d", float(value)), "little")
    return value & ((1 << 8 * size) - 1)


def check(blip, source, marks, compiler, flags, where):
    binary = where / "program"
    flags = flags.split() + ["-w", f"-I{HERE}/targets", "-pthread"]
    subprocess.run([compiler, *flags, "-o", binary, source], check=True)
    run = subprocess.run([blip, "trace", "--json", "-o", where / "events", "--mark", "r:*", "--", binary], capture_output=True, text=True, timeout=60)
    if not run.stderr.startswith("blip: armed"):
        raise SystemExit(f"{compiler} {' '.join(flags)}: {run.stderr}")
    expected = [int(line) for line in run.stdout.split()]
    names = list(marks)
    compared = unknown = at = 0
    for line in (where / "events").read_text().splitlines():
        event = json.loads(line)
        name = names[expected[at]]
        if event["name"] != f"r:{name}":
            raise SystemExit(f"{source} {compiler} {flags}: {event['name']} instead of {name}")
        at += 1
        values = event.get("args", {})
        for i, (_, size, kind, expression, constraint) in enumerate(marks[name]):
            got, wanted = values.get(f"arg{i + 1}"), expected[at]
            at += 1
            if isinstance(got, str) or got is None:
                unknown += 1
                print(f"  {name} arg{i + 1} {constraint}({expression}): {got}")
            elif bits_of(got, size, kind) != wanted:
                raise SystemExit(f"{source} {compiler} {' '.join(flags)}: {name} arg{i + 1} {constraint}({expression}) is {got}, not {wanted:#x}")
            else:
                compared += 1
    if at != len(expected):
        raise SystemExit(f"{source} {compiler} {flags}: {at} of {len(expected)} values were seen: {run.stderr}")
    return compared, unknown


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blip", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=int, default=len(BUILDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sdt", action="store_true")
    options = parser.parse_args()
    total = missing = 0
    for n in range(options.programs):
        compiler, flags = BUILDS[n % len(BUILDS)]
        with tempfile.TemporaryDirectory() as directory:
            where = pathlib.Path(directory)
            text, marks = program(random.Random(options.seed * 1000 + n), options.sdt)
            source = pathlib.Path(directory) / "program.c"
            source.write_text(text)
            compared, unknown = check(options.blip.resolve(), source, marks, compiler, flags, where)
        print(f"{compiler} {flags}: {compared} values, {unknown} unknown")
        total, missing = total + compared, missing + unknown
    print(f"{total} values are right, {missing} are unknown")
    return 1 if missing * 100 > total else 0


if __name__ == "__main__":
    sys.exit(main())
