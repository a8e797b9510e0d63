# SPDX-License-Identifier: MIT
"""Programs at random: functions that take and return structures and numbers of all kinds by value. A program writes what it
passes and gets, one line for each number, into the file it is given (a result that its caller ignores is written by the function):

    call f3
    a0.m1[2] -17          of the arguments
    r.m0 4                of what was returned

Long doubles end with an L. The last lines of the source are comments that list the functions with vectors of more than 16 bytes, and
the arguments that are not used ("f3.a0").

text(random, is_cxx, is_gcc) makes one."""
INTEGERS = ("signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long")
BITS = {"int": 32, "unsigned": 32, "long": 64, "unsigned long": 64, "short": 16, "unsigned char": 8, "bool": 1}
SCALARS = INTEGERS + ("bool", "float", "double", "enum color", "void *", "int", "long", "float", "double")
RARE = ("long double", "__int128", "unsigned __int128")
VECTORS = {"v4f": ("float", 4), "v2l": ("long", 2), "v8f": ("float", 8), "v8i": ("int", 8)}
COMPLEX = ("float _Complex", "double _Complex")
HEAD = """#include <stdbool.h>
#include <stdio.h>
#include <string.h>
enum color { RED, GREEN = 5, BLUE = -3 };
typedef float v4f __attribute__((vector_size(16))), v8f __attribute__((vector_size(32)));
typedef long v2l __attribute__((vector_size(16)));
typedef int v8i __attribute__((vector_size(32)));
static FILE *out;
static unsigned long state = %dul;
static unsigned long any(void) { state = state * 6364136223846793005ul + 1442695040888963407ul; return state >> (state >> 58); }
static long part_of(unsigned long n) { return (long)(n %% 100000) - 50000; }
static long things[8];
volatile long sink;
volatile double real_sink;
__attribute__((noipa_if_there)) void touch(const void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
"""


class Scalar:
    def __init__(self, name):
        self.name = name

    def declare(self, name):
        return f"{self.name} {name}"

    def leaves(self, path):
        if self.name in COMPLEX:
            return [(f"{path}.real", f"__real__ {path}", self.name.split()[0]), (f"{path}.imag", f"__imag__ {path}", self.name.split()[0])]
        return [(path, path, self.name)]

    def set(self, where):
        return [f"{where} = {random_value(self.name)};"]


class Array:
    def __init__(self, element, count):
        self.element, self.count = element, count

    def declare(self, name):
        return self.element.declare(f"{name}[{self.count}]")

    def leaves(self, path):
        return [leaf for i in range(self.count) for leaf in self.element.leaves(f"{path}[{i}]")]

    def set(self, where):
        return [line for i in range(self.count) for line in self.element.set(f"{where}[{i}]")]


class Vector(Array):
    def __init__(self, name):
        element, count = VECTORS[name]
        super().__init__(Scalar(element), count)
        self.name = name

    def declare(self, name):
        return f"{self.name} {name}"


class Bits(Scalar):
    def __init__(self, name, width):
        super().__init__(name)
        self.width = width

    def declare(self, name):
        return f"{self.name} {name} : {self.width}"


class Structure:
    def __init__(self, tag, members, is_union=False, attributes="", extra=""):
        self.tag, self.members, self.is_union, self.attributes, self.extra = tag, members, is_union, attributes, extra

    @property
    def name(self):
        return f"{'union' if self.is_union else 'struct'} {self.tag}"

    def declare(self, name):
        return f"{self.name} {name}"

    def definition(self):
        inner = "".join(f"  {kind.declare(name) if name else kind.anonymous()};\n" for name, kind in self.members)
        return f"{self.name} {{\n{inner}{self.extra}}}{self.attributes};\n"

    def anonymous(self):
        inner = " ".join(f"{kind.declare(name)};" for name, kind in self.members)
        return f"{'union' if self.is_union else 'struct'} {{ {inner} }}"

    def leaves(self, path):
        return [leaf for name, kind in self.members for leaf in kind.leaves(f"{path}.{name}" if name else path)]

    def set(self, where):
        members = self.members[-1:] if self.is_union else self.members
        return [line for name, kind in members for line in kind.set(f"{where}.{name}" if name else where)]


def random_value(name):
    if name == "bool":
        return "any() % 3 == 0"
    if name in ("float", "double", "long double"):
        return f"({name})part_of(any()) / 8" + (" + 1e-12L" if name == "long double" else "")
    if name in COMPLEX:
        return f"({name.split()[0]})part_of(any()) / 8 + 1.0if * ({name.split()[0]})part_of(any()) / 4"
    if name == "enum color":
        return "any() % 3 == 0 ? RED : any() % 2 ? GREEN : BLUE"
    if name == "void *":
        return "&things[any() % 8]"
    if "__int128" in name:
        return f"({name})(((unsigned __int128)any() << 64) | any())"
    return f"({name})any()"


def shown(path, expression, name):
    """A statement that writes one number."""
    if name in ("float", "double"):
        return f'fprintf(out, "{path} %.17g\\n", (double)({expression}));'
    if name == "long double":
        return f'fprintf(out, "{path} %.21LgL\\n", {expression});'
    if "__int128" in name:
        return (f'fprintf(out, "{path}[0] %llu\\n{path}[1] %llu\\n", (unsigned long long)({expression}), '
                f'(unsigned long long)((unsigned __int128)({expression}) >> 64));')
    if name == "void *":
        return f'fprintf(out, "{path} %llu\\n", (unsigned long long)({expression}));'
    if name == "unsigned long":
        return f'fprintf(out, "{path} %llu\\n", (unsigned long long)({expression}));'
    return f'fprintf(out, "{path} %lld\\n", (long long)({expression}));'


class Program:
    def __init__(self, random, is_cxx, is_gcc):
        self.random, self.is_cxx, self.is_gcc, self.types, self.functions, self.calls = random, is_cxx, is_gcc, [], [], []
        self.tags, self.unused, self.wide = 0, [], []

    def chance(self, share):
        return self.random.random() < share

    def scalar(self, in_union=False):
        names = [n for n in SCALARS if not in_union or n not in ("bool", "enum color")]
        if not in_union and self.chance(0.08):
            names = list(RARE) + ([] if self.is_cxx else list(COMPLEX))
        return Scalar(self.random.choice(names))

    def member(self, depth, in_union):
        pick = self.random.random()
        if pick < 0.25 and not in_union:
            name = self.random.choice(list(BITS))
            # clang tells one with all bits of its type as if it were none, though it may begin inside of a byte.
            return Bits(name, self.random.randint(1, BITS[name] if self.is_gcc else max(1, BITS[name] - 1)))
        if pick > 0.97 and not in_union:
            return Vector(self.random.choice(("v4f", "v2l")))
        if pick < 0.35 and depth:
            return self.structure(depth - 1)
        if pick < 0.5:
            element = self.scalar(in_union)
            if element.name in ("signed char", "unsigned char"):  # shown as texts
                element = Scalar("short")
            return Array(element, self.random.choice((1, 2, 3)))
        return self.scalar(in_union)

    def structure(self, depth=1):
        tag = f"s{self.tags}"
        self.tags += 1
        is_union = self.chance(0.12)
        only = self.random.choice((None, None, None, "float", "double", "int"))
        members = []
        for i in range(self.random.choice((1, 1, 2, 2, 3, 3, 4, 5))):
            kind = Scalar(only) if only else self.member(0 if is_union else depth, is_union)
            members.append((f"m{i}", kind))
        if self.chance(0.1) and depth and not is_union:
            inside = Structure("", [("x", self.scalar()), ("y", self.scalar())])
            members.append(("", inside))
        if self.chance(0.02) and not self.is_cxx:
            members = []
        attributes = ""
        if self.chance(0.1):
            attributes = " __attribute__((packed))"
        elif self.chance(0.08):
            attributes = f" __attribute__((aligned({self.random.choice((8, 16))})))"
        has_destructor = self.is_cxx and not is_union and self.chance(0.15) and depth == 1
        extra = f"  ~{tag}() {{ things[0]++; }}\n" if has_destructor else ""
        made = Structure(tag, members, is_union, attributes, extra)
        self.types.append(made)
        return made

    def value(self):
        if self.chance(0.08):
            return Vector(self.random.choice(list(VECTORS)))
        return self.structure() if self.chance(0.5) else self.scalar()

    def uses(self, function, arguments):
        """Statements that look at some of the arguments, and at some of their parts: clang passes the words of a structure each by itself,
        and leaves out what is not used, so that all of it is used there."""
        lines = []
        for name, kind in arguments:
            if getattr(kind, "extra", ""):  # by reference: who calls need not set members that nobody looks at
                lines.append(f"touch(&{name});")
                continue
            if self.chance(0.2):
                self.unused.append(f"{function}.{name}")
                continue
            if self.chance(0.15):
                lines.append(f"touch(&{name});")
            for path, expression, scalar in kind.leaves(name):
                if self.is_gcc and self.chance(0.3):
                    continue
                if "__int128" in scalar:
                    lines.append(f"sink += (long)({expression} ^ ({expression} >> 64));")
                elif scalar in ("float", "double", "long double"):
                    lines.append(f"real_sink += {expression};")
                else:
                    lines.append(f"sink += (long)({expression});")
        self.random.shuffle(lines)
        if lines and self.chance(0.3):
            lines = ["for (int i = 0; i < 2; ++i) {", *lines, "}"]
        if lines and self.chance(0.2):
            lines = ["if (things[3]++ % 2) {", *lines, "}"]
        return lines

    def function(self):
        name = f"f{len(self.functions)}"
        arguments = [(f"a{i}", self.value()) for i in range(self.random.choice((1, 1, 2, 2, 3, 4, 6)))]
        result = self.random.choice((None, self.value(), self.value()))
        if any(isinstance(kind, Vector) and kind.count == 8 for kind in [result, *(kind for _, kind in arguments)]):
            self.wide.append(name)
        traits = "__attribute__((noinline))"
        if self.chance(0.3):
            traits = "static " + traits
        elif self.chance(0.5):
            traits += " __attribute__((noipa_if_there))"
        lines = ['__asm__ volatile("" : : : "memory");', *self.uses(name, arguments)]
        is_ignored = bool(result) and self.chance(0.25)
        if result:
            lines += [f"{result.declare('r')};", "memset((void *)&r, 0, sizeof r);", *self.result_values(result)]
            if is_ignored:  # so that the function itself has to say what it returns
                lines += [shown(*leaf) for leaf in result.leaves("r")]
            lines.append("return r;")
        body = "\n  ".join(lines)
        has_floats = any(getattr(kind, "name", "") == "float" for _, kind in arguments)  # passed as doubles
        is_old = not self.is_cxx and self.chance(0.05) and not has_floats
        parameters = ", ".join(kind.declare(a) for a, kind in arguments)
        if is_old:
            parameters = ", ".join(a for a, _ in arguments)
            traits = traits.replace("static ", "")
        old = "".join(f"{kind.declare(a)};\n" for a, kind in arguments) if is_old else ""
        self.functions.append(f"{traits} {result.name if result else 'void'} {name}({parameters})\n{old}{{\n  {body}\n}}\n")
        self.call(name, arguments, result, is_ignored)

    def result_values(self, result):
        """Some functions return always the same: compilers that know all callers tell them, and leave the result out."""
        if not self.chance(0.2):
            return result.set("r")
        return [f"{expression} = ({name}){self.random.choice((1, 3, 7, 9))};" for _, expression, name in result.leaves("r")
                if name in INTEGERS or name in ("float", "double")]

    def call(self, name, arguments, result, is_ignored):
        lines = []
        is_constant = self.chance(0.15)
        for argument, kind in arguments:
            lines += [f"{kind.declare(argument)};", f"memset((void *)&{argument}, 0, sizeof {argument});"]
            if not is_constant:
                lines += kind.set(argument)
            lines += [shown(*leaf) for leaf in kind.leaves(argument)]
        call = f"{name}({', '.join(a for a, _ in arguments)})"
        head = f'fprintf(out, "call {name}\\n");'
        takes = result and not is_ignored
        if takes:
            call = f"{result.declare('r')} = {call}"
        tail = [shown(*leaf) for leaf in result.leaves("r")] if takes else []
        self.calls.append("{\n  " + "\n  ".join([head, *lines, call + ";", *tail]) + "\n}\n")

    def text(self, count):
        for _ in range(count):
            self.function()
        head = HEAD % self.random.getrandbits(60)
        text = head + "".join(t.definition() for t in self.types) + "".join(self.functions)
        text += "static __attribute__((noinline)) void once(void) {\n" + "".join(self.calls) + "}\n"
        text += "int main(int count, char **words) {\n  (void)count;\n  out = fopen(words[1], \"w\");\n"
        text += "  for (int i = 0; i < 3; ++i) once();\n  return fclose(out);\n}\n"
        text += f"// vectors: {' '.join(self.wide)}\n"
        text += f"// not used: {' '.join(self.unused)}\n"
        return text.replace("__attribute__((noipa_if_there))", "__attribute__((noipa))" if self.is_gcc else "__attribute__((noinline))")


def text(random, is_cxx, is_gcc, count=30):
    return Program(random, is_cxx, is_gcc).text(count)
