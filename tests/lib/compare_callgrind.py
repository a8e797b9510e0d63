#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_callgrind.py COUNTS GRIND FUNCTION...: fails unless blip (`count --every-instruction --json`) and callgrind
counted as many instructions in each of the functions."""
import collections
import json
import re
import sys

FUNCTION = re.compile(r"(c?)fn=\((\d+)\)(?: (.*?)('\d+)?)?$")  # called or own; 'N: the Nth level of a recursion
COST = re.compile(r"[-+*\d]")


def callgrind_counts(path):
    """Instructions per function, without those of what it calls."""
    names, counts = {}, collections.Counter()
    current, of_call = None, False
    for line in open(path):
        if found := FUNCTION.match(line):
            names.setdefault(found[2], found[3])
            if not found[1]:
                current = names[found[2]]
        elif line.startswith("calls="):
            of_call = True  # the next line is the cost of the call
        elif COST.match(line):
            if not of_call and current:
                counts[current] += int(line.split()[-1])
            of_call = False
    return counts


def blip_counts(path):
    counts = collections.Counter()
    for line in open(path):
        if line.startswith("{"):
            row = json.loads(line)
            counts[row["name"].split("+")[0]] += row["hits"]
    return counts


def main():
    blip, grind = blip_counts(sys.argv[1]), callgrind_counts(sys.argv[2])
    wrong = 0
    for function in sys.argv[3:]:
        print(function, blip[function], grind[function])
        wrong |= blip[function] != grind[function] or blip[function] == 0
    return wrong


if __name__ == "__main__":
    sys.exit(main())
