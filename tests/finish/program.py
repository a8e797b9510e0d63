# SPDX-License-Identifier: MIT
"""A program of functions at random that return values of all kinds: text(random, is_cxx)."""
SCALARS = ("signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "bool",
           "float", "double", "enum color", "const char *", "void *")
HEAD = """#include <stdbool.h>
enum color { RED, GREEN = 5, BLUE = -3 };
static const char *const texts[] = {"one", "a longer text", ""};
static long things[8];
#define PROBED __attribute__((noinline, used))
"""


def expression(kind, salt):
    number = f"(seed * {salt * 2654435761 % 4294967291}ul + {salt})"
    if kind == "bool":
        return f"({number} >> 3) % 2 == 0"
    if kind in ("float", "double"):
        return f"(({kind})(long)({number} % 100000) - 50000) / 8"
    if kind == "enum color":
        return f"{number} % 3 == 0 ? RED : {number} % 3 == 1 ? GREEN : BLUE"
    if kind == "const char *":
        return f"texts[{number} % 3]"
    if kind == "void *":
        return f"&things[{number} % 8]"
    return f"({kind}){number}"


class Program:
    def __init__(self, random, is_cxx):
        self.random, self.is_cxx, self.types, self.functions, self.salt = random, is_cxx, [], [], 0

    def structure(self):
        name = f"s{len(self.types)}"
        members = []
        for i in range(self.random.randint(1, 5)):
            kind = self.random.choice(SCALARS)
            count = self.random.choice((0, 0, 0, 2, 3))
            members.append((f"m{i}", kind, count))
        if self.random.random() < 0.3:  # all of them in vector registers
            members = [(m, "float" if self.random.random() < 0.7 else "double", c) for m, _, c in members]
        text = "".join(f"  {kind} {m}{f'[{count}]' if count else ''};\n" for m, kind, count in members)
        extra = f"  ~{name}() {{ things[0]++; }}\n" if self.is_cxx and self.random.random() < 0.3 else ""
        self.types.append(f"struct {name} {{\n{text}{extra}}};\n")
        return name, members

    def function(self):
        name = f"f{len(self.functions)}"
        if self.random.random() < 0.5:
            kind = self.random.choice(SCALARS)
            self.salt += 1
            self.functions.append(f"PROBED {kind} {name}(unsigned long seed) {{\n  things[1]++;\n  return {expression(kind, self.salt)};\n}}\n")
            return
        structure, members = self.structure()
        body = f"  struct {structure} r;\n"
        for member, kind, count in members:
            for at in range(count or 1):
                self.salt += 1
                body += f"  r.{member}{f'[{at}]' if count else ''} = {expression(kind, self.salt)};\n"
        self.functions.append(f"PROBED struct {structure} {name}(unsigned long seed) {{\n  things[1]++;\n{body}  return r;\n}}\n")

    def text(self, count):
        for _ in range(count):
            self.function()
        calls = "".join(f"  f{i}({self.random.randint(0, 10**6)});\n" for i in range(count))
        return HEAD + "".join(self.types) + "".join(self.functions) + "int main(void) {\n" + calls + "  return 0;\n}\n"


def text(random, is_cxx, count=60):
    return Program(random, is_cxx).text(count)
