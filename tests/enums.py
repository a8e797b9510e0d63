#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what blip shows of Rust's enums with the values that random programs print themselves: options, results and enums of all
kinds, nested, with a tag or in a niche, as arguments and results.

    tests/enums.py --blip build/blip [--seed N] [--rounds N] [--keep DIR]

It fails if a value differs, if blip shows a variant that is not there, if an event is missing, or if blip knows too little.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

RUSTC = "/usr/bin/rustc"  # Debian's: others lie further ahead in some paths
INTEGERS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize")
LEAST_KNOWN = {"0": 0.75, "1": 0.5, "2": 0.5, "3": 0.5}
HEAD = """#![allow(dead_code)]
use std::io::Write;
#[inline(never)]
fn opaque<T>(x: T) -> T { unsafe { let y = std::ptr::read_volatile(&x); std::mem::forget(x); y } }
pub struct Numbers(u64);
impl Numbers { fn any(&mut self) -> u64 { self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); self.0 >> (self.0 >> 58) } }
pub trait Value { fn show(&self) -> String; fn any(n: &mut Numbers) -> Self; }
impl Value for bool { fn show(&self) -> String { self.to_string() } fn any(n: &mut Numbers) -> Self { n.any() % 2 == 0 } }
impl<T: Value> Value for Option<T> {
    fn show(&self) -> String { match self { None => r#"{"variant":"None"}"#.into(), Some(x) => format!(r#"{{"variant":"Some","Some":{}}}"#, x.show()) } }
    fn any(n: &mut Numbers) -> Self { if n.any() % 3 == 0 { None } else { Some(T::any(n)) } }
}
impl<T: Value, E: Value> Value for Result<T, E> {
    fn show(&self) -> String { match self { Ok(x) => format!(r#"{{"variant":"Ok","Ok":{}}}"#, x.show()), Err(x) => format!(r#"{{"variant":"Err","Err":{}}}"#, x.show()) } }
    fn any(n: &mut Numbers) -> Self { if n.any() % 2 == 0 { Ok(T::any(n)) } else { Err(E::any(n)) } }
}
static WORDS: [u64; 4] = [1, 2, 3, 4];
impl Value for &'static u64 { fn show(&self) -> String { (*self as *const u64 as usize).to_string() } fn any(n: &mut Numbers) -> Self { &WORDS[(n.any() % 4) as usize] } }
"""


class Program:
    def __init__(self, choose):
        self.choose, self.enums, self.made, self.functions, self.calls = choose, [], 0, [], []

    def kind(self, depth=2):
        pick = self.choose.random()
        if depth == 0 or pick < 0.25:
            return self.choose.choice(INTEGERS + ("bool", "&'static u64"))
        if pick < 0.55:
            return f"Option<{self.kind(depth - 1)}>"
        if pick < 0.7:
            return f"Result<{self.kind(depth - 1)}, {self.kind(depth - 1)}>"
        if pick < 0.85 and self.enums:
            return self.choose.choice(self.enums)
        return self.enum(depth - 1)

    def enum(self, depth):
        name = f"E{self.made}"
        self.made += 1
        variants, shows, makes = [], [], []
        forms = ("none",) if self.choose.random() < 0.2 else ("none", "one", "two", "named")
        forms = [self.choose.choice(forms) for _ in range(self.choose.choice((1, 2, 2, 3, 4, 6)))]
        is_plain = set(forms) == {"none"}  # shown by its name
        for i, form in enumerate(forms):
            v = f"V{i}"
            kinds = [self.kind(depth) for _ in range({"none": 0, "one": 1, "two": 2, "named": 2}[form])]
            if form == "none":
                variants.append(v)
                shows.append(f'{name}::{v} => r#""{v}""#.into(),' if is_plain else f'{name}::{v} => r#"{{"variant":"{v}"}}"#.into(),')
                makes.append(f"{i} => {name}::{v},")
            elif form == "named":
                variants.append(f"{v} {{ x: {kinds[0]}, y: {kinds[1]} }}")
                shows.append(f'{name}::{v} {{ x, y }} => format!(r#"{{{{"variant":"{v}","{v}":{{{{"x":{{}},"y":{{}}}}}}}}}}"#, x.show(), y.show()),')
                makes.append(f"{i} => {name}::{v} {{ x: Value::any(n), y: Value::any(n) }},")
            else:
                variants.append(f"{v}({', '.join(kinds)})")
                names = [f"f{k}" for k in range(len(kinds))]
                inside = "{}" if form == "one" else "{{{{" + ",".join(f'"__{k}":{{}}' for k in range(len(kinds))) + "}}}}"
                inside = inside.replace("{{{{", "{{").replace("}}}}", "}}")
                shows.append(f'{name}::{v}({", ".join(names)}) => format!(r#"{{{{"variant":"{v}","{v}":{inside}}}}}"#, '
                             f'{", ".join(f"{k}.show()" for k in names)}),')
                makes.append(f"{i} => {name}::{v}({', '.join('Value::any(n)' for _ in kinds)}),")
        self.functions.append(f"#[derive(Clone, Copy)]\npub enum {name} {{ {', '.join(variants)} }}\nimpl Value for {name} {{\n"
                              f"    fn show(&self) -> String {{ match self {{ {' '.join(shows)} }} }}\n"
                              f"    fn any(n: &mut Numbers) -> Self {{ match n.any() % {len(variants)} {{ {' '.join(makes)} _ => unreachable!() }} }}\n}}\n")
        self.enums.append(name)
        return name

    def function(self, number):
        kinds = [self.kind() for _ in range(self.choose.choice((1, 1, 2, 3)))]
        result = self.kind()
        names = [f"a{i}" for i in range(len(kinds))]
        uses = " ".join(f"opaque({a});" for a in names)
        self.functions.append(f"#[inline(never)]\npub fn f{number}({', '.join(f'{a}: {k}' for a, k in zip(names, kinds))}, n: &mut Numbers) -> {result} "
                              f"{{ {uses} opaque(Value::any(n)) }}\n")
        makes = "".join(f"let {a}: {k} = Value::any(n); " for a, k in zip(names, kinds))
        shown = ",".join(f'"{a}":{{}}' for a in names)
        self.calls.append(f'    {makes}\n    writeln!(out, r#"f{number} {{{{{shown}}}}}"#, {", ".join(f"Value::show(&{a})" for a in names)}).unwrap();\n'
                          f'    let r = f{number}({", ".join(names)}, n);\n    writeln!(out, r#"r{number} {{{{"r":{{}}}}}}"#, Value::show(&r)).unwrap();\n')

    def text(self, count):
        for i in range(count):
            self.function(i)
        integers = "".join(f"impl Value for {i} {{ fn show(&self) -> String {{ self.to_string() }} fn any(n: &mut Numbers) -> Self {{ n.any() as {i} }} }}\n"
                           for i in INTEGERS)
        return (HEAD + integers + "".join(self.functions) + "#[inline(never)]\nfn once(out: &mut std::fs::File, n: &mut Numbers) {\n" + "".join(self.calls) +
                "}\nfn main() {\n    let mut out = std::fs::File::create(std::env::args().nth(1).unwrap()).unwrap();\n"
                f"    let mut n = Numbers({self.choose.getrandbits(60)});\n    for _ in 0..5 {{ once(&mut out, &mut n); }}\n}}\n")


class Comparison:
    def __init__(self):
        self.counts, self.lines = collections.Counter(), []

    def note(self, kind, text):
        self.counts[kind] += 1
        if kind in ("wrong", "events", "failed") and len(self.lines) < 30:
            self.lines.append(f"  {kind}: {text}")

    def value(self, where, ours, theirs):
        """Compares one value. A payload in memory is a list of one; null means unknown."""
        if isinstance(ours, list) and len(ours) == 1:
            ours = ours[0]
        if isinstance(ours, dict) and list(ours) == ["__0"]:
            ours = ours["__0"]
        if ours is None:
            return self.note("unknown", where)
        if isinstance(ours, dict) and len(ours) == 1 and theirs in (*ours, {"variant": next(iter(ours))}):
            return self.note("equal", where)  # an enum of one
        if isinstance(theirs, dict) and "variant" in theirs and isinstance(ours, dict) and list(ours) == [theirs["variant"]] and "variant" not in ours:
            ours = {"variant": theirs["variant"], **ours}
        if isinstance(theirs, dict):
            if not isinstance(ours, dict):
                return self.note("wrong", f"{where}: the program has {theirs}, blip {ours}")
            if "variant" in ours and ours["variant"] is None:
                return self.note("unknown", where)
            if "variant" in theirs and "variant" in ours and set(ours) - set(theirs):
                return self.note("wrong", f"{where}: the program has {theirs}, blip {ours}")
            for key, value in theirs.items():
                self.value(f"{where}.{key}", ours.get(key), value)
        else:
            same = ours == theirs or (isinstance(ours, str) and ours.startswith("0x") and int(ours, 16) == theirs)
            self.note("equal" if same else "wrong", f"{where}: the program has {theirs}, blip {ours}")


def trace(blip, path, calls, comparison, *words):
    calls.unlink(missing_ok=True)
    done = subprocess.run([blip, "trace", "-q", "--json", *words, "--", str(path), str(calls)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        comparison.note("failed", done.stderr.strip()[:600])
    events = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        event = json.loads(line)
        events[event["name"].removesuffix(":return").split("::")[-1]].append(event.get("args") or event.get("captures") or {})
    told = collections.defaultdict(list)
    for line in calls.read_text().splitlines():
        name, values = line.split(" ", 1)
        told[name].append(json.loads(values))
    return events, told


def compare(what, letter, events, told, comparison):
    for name, all_values in told.items():
        if name[0] != letter:
            continue
        ours = events.get("f" + name[1:], [])
        if len(ours) != len(all_values):
            comparison.note("events" if ours else "not probed", f"{what} {name}: {len(ours)} of {len(all_values)}")
            continue
        for event, values in zip(ours, all_values):
            for key, value in values.items():
                comparison.value(f"{what} {name} {key}", event.get(key), value)


def run(options, seed, directory):
    choose = random.Random(seed)
    level = choose.choice("0123")
    source = directory / "program.rs"
    source.write_text(Program(choose).text(20))
    path = directory / "program"
    subprocess.run([RUSTC, "-g", f"-Copt-level={level}", "-Awarnings", "-o", path, source], check=True)
    comparison, calls = Comparison(), directory / "calls"
    compare("arguments of", "f", *trace(options.blip, path, calls, comparison, "--function", "program::f[0-9]*", "--args"), comparison)
    compare("result of", "r", *trace(options.blip, path, calls, comparison, "--return", "program::f[0-9]*", "--capture", "r = $return"), comparison)
    counts = comparison.counts
    known = counts["equal"] / max(1, counts["equal"] + counts["unknown"])
    good = known >= LEAST_KNOWN[level] and not any(counts[kind] for kind in ("wrong", "events", "failed"))
    print(f"seed {seed} opt-level {level}: {dict(counts)}, known {known:.2f}", "" if good else "FAILED", flush=True)
    if comparison.lines:
        print("\n".join(comparison.lines))
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blip", required=True)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 1000 % 10**9)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep", help="leave the programs here")
    options = parser.parse_args()
    good = True
    for seed in range(options.seed, options.seed + options.rounds):
        with tempfile.TemporaryDirectory() as temporary:
            directory = pathlib.Path(options.keep) / str(seed) if options.keep else pathlib.Path(temporary)
            directory.mkdir(parents=True, exist_ok=True)
            good &= run(options, seed, directory)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
