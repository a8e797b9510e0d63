#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_callgrind.py COUNTS GRIND FUNCTION...       as many instructions in each of the functions?
compare_callgrind.py COUNTS GRIND --each FILE LISTED   as many runs of each single instruction of FILE?

COUNTS is of `blip count --every-instruction ... --json`, GRIND of callgrind with --dump-instr=yes
--skip-plt=no, LISTED of `blip list --json FILE`, which tells where functions begin. Fails unless both counted the same."""
import collections
import json
import re
import subprocess
import sys

FUNCTION = re.compile(r"(c?)fn=\((\d+)\)(?: (.*?)('\d+)?)?$")  # called or own; 'N: the Nth level of a recursion
OBJECT = re.compile(r"(c?)ob=\((\d+)\)(?: (.*))?$")
COST = re.compile(r"(0x[0-9a-f]+|[-+]\d+|\*) ")


def callgrind_costs(path):
    """(object, function, address, count) of each instruction, without what it calls."""
    names, objects = {}, {}
    function = module = None
    address, of_call = 0, False
    for line in open(path):
        if found := FUNCTION.match(line):
            names.setdefault(found[2], found[3])
            function = function if found[1] else names[found[2]]
        elif found := OBJECT.match(line):
            objects.setdefault(found[2], found[3])
            module = module if found[1] else objects[found[2]]
        elif line.startswith("calls="):
            of_call = True  # the next line is the cost of the call
        elif found := COST.match(line):
            place = found[1]
            if place != "*":
                address = int(place, 16) if place.startswith("0x") else address + int(place)
            if not of_call:
                yield module, function, address, int(line.split()[-1])
            of_call = False


def blip_counts(path):
    return [(row["name"], row["hits"]) for row in map(json.loads, filter(lambda l: l.startswith("{"), open(path)))]


def compare_functions(counts, grind, functions):
    blip, reference = collections.Counter(), collections.Counter()
    for name, hits in blip_counts(counts):
        blip[name.split("+")[0]] += hits
    for _, function, _, count in callgrind_costs(grind):
        reference[function] += count
    wrong = 0
    for function in functions:
        print(function, blip[function], reference[function])
        wrong |= blip[function] != reference[function] or blip[function] == 0
    return wrong


def repeated(path):
    """Addresses of string instructions with a prefix: callgrind counts each of their rounds."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True)
    return {int(a, 16) for a in re.findall(r"^ *([0-9a-f]+):\trep", code.stdout, re.M)}


def compare_each(counts, grind, path, listed):
    starts = {f["name"]: f["address"] for f in map(json.loads, open(listed))}
    file = path.split("/")[-1]
    reference = collections.Counter()
    for module, _, address, count in callgrind_costs(grind):
        if module and module.split("/")[-1] == file:
            reference[address] += count
    rounds = repeated(path)
    wrong = known = 0
    for name, hits in blip_counts(counts):
        function, offset = name.rsplit("+", 1)
        address = int(offset, 16) + (0 if function == file else starts[function])
        known += 1
        same = hits <= reference[address] if address in rounds else hits == reference[address]
        if not same:
            wrong += 1
            print(f"{name} ({address:#x}): {hits}, callgrind {reference[address]}")
    ran = sum(1 for count in reference.values() if count)
    print(f"{known} instructions, of which {ran} ran; {wrong} counted otherwise")
    return wrong != 0 or ran == 0


def main():
    counts, grind, *rest = sys.argv[1:]
    return compare_each(counts, grind, *rest[1:]) if rest[0] == "--each" else compare_functions(counts, grind, rest)


if __name__ == "__main__":
    sys.exit(main())
