#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a C file with N functions of several shapes (leaf, with a frame, with a branch, calling another, with a switch)."""
import sys

SHAPES = [
    "return x * {k} + 1;",
    "volatile unsigned long a[4]; a[x & 3] = x; return a[x & 3] + {k};",
    "return x & 1 ? x + {k} : x - {k};",
    "return x ^ (x >> {s}) ^ many_helper(x);",
    "switch (x % 6) {{ case 0: return {k}; case 1: return x + 2; case 2: return x * 3; case 3: return ~x; "
    "case 4: return x >> 3; default: return x - {k}; }}",
]


def main():
    count = int(sys.argv[1])
    print('#include "target.h"')
    print("PROBED unsigned long many_helper(unsigned long x) { return x * 2654435761u; }")
    for i in range(count):
        body = SHAPES[i % len(SHAPES)].format(k=i * 7 + 3, s=i % 31 + 1)
        print(f"PROBED unsigned long many_{i:05}(unsigned long x) {{ {body} }}")
    print("typedef unsigned long Function(unsigned long);")
    print("Function* const many_functions[] = {" + ", ".join(f"many_{i:05}" for i in range(count)) + "};")
    print(f"const unsigned long many_count = {count};")


if __name__ == "__main__":
    main()
