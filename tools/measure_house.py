#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the source tree: rooms, functions, knots, classes, comments, x86 names and globals.

    tools/measure_house.py                      this checkout
    tools/measure_house.py DIR                  another checkout
    tools/measure_house.py --commit REV         a commit of this repository
    tools/measure_house.py --before REV         one table, REV beside this checkout (docs/ARCHITECTURE.md ends with it)
    tools/measure_house.py --only classes -n 5  one part, with five rows in its list
    tools/measure_house.py --json               everything, for scripts

It needs python3 alone. It reads C++ with a scanner of its own that knows comments, strings, braces and little more, so a
number may be off by one or two in odd places. It counts the same way in every tree, and that is what a comparison needs.
"""
import argparse
import bisect
import collections
import io
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent.parent
SOURCE = re.compile(r"\.(h|cc|S)$")
TEST = re.compile(r"_(test|fuzz|bench)\.cc$|(^|/)test_\w+\.h$")
# The folders that belong to the processor. Everything else should not name it.
MACHINE = ("x86/", "jit/", "machine/")
X86_NAME = re.compile(
    r"\b(r[abcd]x|r[sd]i|r[sb]p|rip|e[abcd]x|r(?:8|9|1[0-5])|eflags|rflags|orig_rax|[fg]s_base|[xy]mm\d+|"
    r"k?(?:Rax|Rbx|Rcx|Rdx|Rsi|Rdi|Rsp|Rbp|Rip|Rflags)|user_regs_struct|user_fpregs_struct|R_X86_64_\w+|EM_X86_64|"
    r"k(?:Short|Long|Near)?Jump(?:Size|Length|Bytes)|rdtscp?|int3|endbr64|x86_64|__x86_64__|Zydis\w*|asmjit|x86)\b")
OPENERS = re.compile(r"(What|Of|Where|Whether)\b")
AUXILIARY = r"\b(?:is|are|was|were|has|have|had|must|may|can|cannot|will|does|do|goes|stays|comes|needs)\b"
# "What the pad stores is checked": a verb of the subject's own, then that of the sentence.
MAIN_CLAUSE = {"What": re.compile(rf"\w+ .*(?:{AUXILIARY}|\b\w+(?:s|ed)\b|\bto\b).* {AUXILIARY} \w"),
               "Whether": re.compile(rf"{AUXILIARY}.* {AUXILIARY} \w")}


# ---- reading trees ----

def files_of_directory(root):
    return {path.relative_to(root / "src").as_posix(): path.read_text(errors="replace")
            for path in sorted((root / "src").rglob("*")) if path.is_file() and SOURCE.search(path.name)}


def files_of_commit(rev):
    archive = subprocess.run(["git", "-C", HERE, "archive", rev, "src"], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name.removeprefix("src/"): tar.extractfile(member).read().decode(errors="replace")
                for member in tar if member.isfile() and SOURCE.search(member.name)}


# ---- scanning ----

LEXEMES = re.compile(r'''
    (?P<line>//(?:[^\n\\]|\\.|\\\n)*) | (?P<block>/\*.*?\*/) |
    (?P<raw>(?:u8|[uUL])?R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)") |
    (?P<string>"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)*') |
    (?P<directive>^[ \t]*\#(?:[^\n\\/]|/(?![/*])|\\\n|\\.)*) |
    (?P<word>[A-Za-z_]\w*) | (?P<number>\.?\d(?:[\w.']|[eEpP][+-])*) | (?P<punct>::|->|<=>|<<=?|==|!=|<=|>=|&&|\|\||[^\s\w])
''', re.X | re.S | re.M)

Token = collections.namedtuple("Token", "text line")


class Scan:
    """The tokens, comments and includes of one file. Code is the text without comments."""

    def __init__(self, text):
        starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.tokens, self.comments, self.includes, code = [], [], [], []
        for m in LEXEMES.finditer(text):
            kind, found = m.lastgroup, m.group()
            if kind == "d":
                kind = "raw"
            line = bisect.bisect_right(starts, m.start())
            if kind in ("line", "block"):
                own_line = not text[starts[line - 1]:m.start()].strip()
                self.comments.append((line, own_line, found))
                continue
            code.append(found)
            if kind == "directive":
                if include := re.match(r'\s*#\s*include\s+"([^"]+)"', found):
                    self.includes.append(include[1])
            elif kind in ("raw", "string"):
                self.tokens.append(Token('"', line))
            else:
                self.tokens.append(Token(found, line))
        self.code = "\n".join(code)

    def paragraphs(self):
        """Comments as a reader sees them: // lines below each other are one text."""
        last = None
        for line, own_line, found in self.comments:
            text = re.sub(r"^(//+|/\*+)<?\s?|\*+/$", "", found).strip()
            if last and own_line and last[2] and found.startswith("//") and last[1] + 1 == line:
                last[1], last[3] = line, f"{last[3]} {text}" if text else last[3]
            else:
                if last:
                    yield last[0], last[3]
                last = [line, line + found.count("\n"), own_line, text]
        if last:
            yield last[0], last[3]


# ---- structure: scopes, functions, classes, variables ----

Function = collections.namedtuple("Function", "name file line lines")
Variable = collections.namedtuple("Variable", "name file line")


class Class:
    def __init__(self, name, file, line):
        self.name, self.file, self.line, self.members, self.methods = name, file, line, 0, 0


def skip_angles(tokens, i):
    """The index behind <...> that begins at i, or i + 1 if it is no list of template arguments."""
    depth = 0
    for j in range(i, len(tokens)):
        t = tokens[j].text
        if t == "<":
            depth += 1
        elif t == ">":
            depth -= 1
            if depth == 0:
                return j + 1
        elif t in (";", "&&", "||"):
            break
    return i + 1


CLOSES = {"(": ")", "[": "]", "{": "}"}


def skip_group(tokens, i):
    depth, opener = 0, tokens[i].text
    for j in range(i, len(tokens)):
        if tokens[j].text == opener:
            depth += 1
        elif tokens[j].text == CLOSES[opener]:
            depth -= 1
            if depth == 0:
                return j + 1
    return len(tokens)


def top_level(tokens):
    """Tokens outside of template arguments, attributes and groups; a group is its opening token, and ends the look at angles."""
    out, i = [], 0
    while i < len(tokens):
        t = tokens[i].text
        if t == "[" and i + 1 < len(tokens) and tokens[i + 1].text == "[":
            i = skip_group(tokens, i)
        elif t == "alignas" or t == "__attribute__":
            i = skip_group(tokens, i + 1) if i + 1 < len(tokens) else i + 1
        elif t == "template" and i + 1 < len(tokens) and tokens[i + 1].text == "<":
            i = skip_angles(tokens, i + 1)
        elif t == "operator":  # operator(), operator<, operator bool
            j = i + 1
            while j < len(tokens) and tokens[j].text != "(":
                j += 1
            if j + 2 < len(tokens) and tokens[j + 1].text == ")" and j == i + 1:
                j += 2
            out.append(tokens[i])
            i = j
        elif t == "<" and out and re.match(r"\w", out[-1].text):
            i = skip_angles(tokens, i)
        elif t in CLOSES:
            out.append(tokens[i])
            i = skip_group(tokens, i)
        else:
            out.append(tokens[i])
            i += 1
    return out


KEYS = {"class", "struct", "union", "enum"}
NO_VARIABLE = {"using", "typedef", "friend", "static_assert", "namespace", "extern", "template", "concept", "asm", "__asm__"}


def kind_of_block(header):
    """What the block behind these tokens is: namespace, class, enum, function or value."""
    top = [t.text for t in top_level(header)]
    if not top:
        return "value"
    if "namespace" in top or top[:1] == ["extern"] and len(top) == 2:
        return "namespace"
    before_value = top[:top.index("=")] if "=" in top else top
    if "operator" in before_value or "(" in before_value:
        return "function"
    if "enum" in before_value:
        return "enum"
    if KEYS & set(before_value) and "=" not in top:
        return "class"
    return "value"


def function_name(header):
    top = top_level(header)
    texts = [t.text for t in top]
    if "operator" in texts:
        i = texts.index("operator")
        start = header.index(top[i]) + 1
        sign = [t.text for t in header[start:]]
        name = "operator" + ("()" if sign[:2] == ["(", ")"] else "".join(sign[:sign.index("(")]))
    else:
        i = texts.index("(")
        name = texts[i - 1] if i else "?"
        if name in ("TEST", "TEST_F", "TEST_P", "TYPED_TEST"):
            start = header.index(top[i])
            return name + "".join(t.text for t in header[start:skip_group(header, start)])
        i -= 1
        if i > 0 and texts[i - 1] == "~":
            name, i = "~" + name, i - 1
    while i >= 2 and texts[i - 1] == "::":
        name, i = f"{texts[i - 2]}::{name}", i - 2
    return name


def class_name(header):
    texts = [t.text for t in top_level(header)]
    i = max(texts.index(k) for k in KEYS if k in texts) + 1
    parts = []
    while i < len(texts) and (re.match(r"[A-Za-z_]", texts[i]) or texts[i] == "::"):
        if texts[i] not in ("final", "alignas"):
            parts.append(texts[i])
        i += 1
    return "".join(parts) or "(unnamed)"


def is_member_initializer(tokens, header, i):
    """Whether the { at i initializes a member in a constructor's list: Name() : a_{1}, b_(2) {"""
    texts = [t.text for t in top_level(header)]
    if "(" not in texts:
        return False
    after = texts[texts.index("(") + 1:]
    return ":" in after and re.match(r"\w|>", header[-1].text) and header[-1].text not in ("noexcept", "override", "const") \
        and skip_group(tokens, i) < len(tokens) and tokens[skip_group(tokens, i)].text in (",", "{")


class Structure:
    """Functions, classes and variables of one file."""

    def __init__(self, file, tokens):
        self.file, self.functions, self.classes, self.globals = file, [], [], []
        self.tokens = tokens
        self.scope(0, len(tokens), None)

    def scope(self, i, end, owner):
        tokens, header = self.tokens, []
        while i < end:
            t = tokens[i].text
            if t == ";":
                self.statement(header, owner)
                header = []
            elif t == ":" and owner and header and header[-1].text in ("public", "private", "protected"):
                header = []
            elif t == "(" or t == "[":
                close = skip_group(tokens, i)
                header += tokens[i:close]
                i = close
                continue
            elif t == "{":
                close = skip_group(tokens, i)
                kind = kind_of_block(header)
                if kind == "function" and is_member_initializer(tokens, header, i):
                    kind = "value"
                if kind == "value":
                    header += tokens[i:close]
                    i = close
                    continue
                header = self.block(kind, header, i, close, owner)
                i = close
                continue
            else:
                header.append(tokens[i])
            i += 1

    def block(self, kind, header, i, close, owner):
        """Looks into a block; gives the tokens that the next statement begins with."""
        tokens = self.tokens
        if kind == "namespace":
            self.scope(i + 1, close - 1, owner)
        elif kind == "function":
            first, last = header[0].line, tokens[close - 1].line
            self.functions.append(Function(function_name(header), self.file, first, last - first + 1))
            self.local_statics(i + 1, close - 1)
            if owner:
                owner.methods += 1
        elif kind == "class":
            name = class_name(header)
            found = Class(f"{owner.name}::{name}" if owner else name, self.file, header[0].line)
            self.classes.append(found)
            self.scope(i + 1, close - 1, found)
            return [Token("struct", header[0].line)]  # struct {...} name; declares a variable
        elif kind == "enum":
            return [Token("enum", header[0].line)]
        return []

    def statement(self, header, owner):
        top = [t.text for t in top_level(header)]
        if not top or NO_VARIABLE & set(top):
            return
        if top[0] in KEYS and len(top) <= 2 + 2 * top.count("::"):
            if not (owner and header[0].text in KEYS and len(top) == 2 and header[-1].line != header[0].line):
                return  # a declaration of a type, or its end
        cut = min((top.index(x) for x in ("=", "{") if x in top), default=len(top))
        if "operator" in top or "(" in top[:cut]:
            if owner:
                owner.methods += 1
            return
        words = [w for w in top[:cut] if re.match(r"[A-Za-z_]", w)]
        if len(words) < 2:
            return
        count = 1 + top.count(",")
        if owner and "static" not in top:
            owner.members += count
        elif not self.is_constant(top[:cut]):
            self.globals.append(Variable(words[-1], self.file, header[0].line))

    @staticmethod
    def is_constant(texts):
        if {"constexpr", "consteval"} & set(texts):
            return True
        if "const" not in texts:
            return False
        last = len(texts) - 1 - texts[::-1].index("const")
        return "*" not in texts[last:]

    def local_statics(self, i, end):
        while i < end:
            if self.tokens[i].text in ("static", "thread_local"):
                j = i
                while j < end and self.tokens[j].text != ";":
                    j = skip_group(self.tokens, j) if self.tokens[j].text in CLOSES else j + 1
                top = [t.text for t in top_level(self.tokens[i:j])]
                cut = min((top.index(x) for x in ("=", "{", "(") if x in top), default=len(top))
                if not self.is_constant(top[:cut]):
                    self.globals.append(Variable(next((w for w in reversed(top[:cut]) if re.match(r"[A-Za-z_]", w)), "?"), self.file,
                                                 self.tokens[i].line))
                i = j
            i += 1


# ---- the house ----

def room_of(file):
    return file.rsplit("/", 1)[0] if "/" in file else "."


def unit_of(file):
    return file.rsplit(".", 1)[0]


def knots(edges):
    """Strongly connected sets of more than one node, largest first (Tarjan, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for child in rest:
                if child not in edges:
                    continue
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    on_stack.add(child)
                    work.append((child, iter(sorted(edges[child]))))
                    break
                if child in on_stack:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while node not in component:
                        component.add(stack.pop())
                    on_stack -= component
                    if len(component) > 1:
                        found.append(sorted(component))
    return sorted(found, key=lambda k: (-len(k), k))


def lacks_main_clause(text):
    """Whether a comment begins as a fragment: "What ..." or "Of ..." with nothing behind that says something of it.

    It is a guess by form: "Where a, b" and "Of a, b" may be sentences; "What a does is b" has a second verb; questions are fine.
    """
    opener = OPENERS.match(text)
    if not opener:
        return False
    sentence = re.split(r"(?<=[.:;?!])\s", text, maxsplit=1)[0]
    if sentence.endswith("?"):
        return False
    if opener[1] in ("Of", "Where"):
        return "," not in sentence
    return not MAIN_CLAUSE[opener[1]].search(sentence)


class House:
    def __init__(self, files):
        self.scans = {name: Scan(text) for name, text in files.items()}
        self.lines = {name: text.count("\n") for name, text in files.items()}
        structures = [Structure(name, scan.tokens) for name, scan in self.scans.items() if not name.endswith(".S")]
        self.functions = [f for s in structures for f in s.functions]
        self.classes = [c for s in structures for c in s.classes]
        self.globals = [v for s in structures for v in s.globals if not TEST.search(v.file)]
        edges = collections.defaultdict(set)
        for name, scan in self.scans.items():
            unit = unit_of(name)
            edges[unit] |= {unit_of(i) for i in scan.includes if i in files} - {unit}
        self.knots = knots(edges)
        self.fragments = [(name, line, text) for name, scan in self.scans.items() for line, text in scan.paragraphs()
                          if lacks_main_clause(text)]
        self.x86 = {name: sorted(set(X86_NAME.findall(scan.code))) for name, scan in self.scans.items() if not name.startswith(MACHINE)}
        self.x86 = {name: found for name, found in self.x86.items() if found}

    def rooms(self):
        """Per room: files and lines without tests, lines of tests."""
        table = collections.defaultdict(lambda: [0, 0, 0])
        for name, lines in self.lines.items():
            row = table[room_of(name)]
            if TEST.search(name):
                row[2] += lines
            else:
                row[0] += 1
                row[1] += lines
        return dict(sorted(table.items()))

    def own_functions(self):
        return [f for f in self.functions if not TEST.search(f.file)]

    def own_classes(self):
        return [c for c in self.classes if not TEST.search(c.file)]

    def summary(self):
        rooms, functions = self.rooms(), self.own_functions()
        lengths = [f.lines for f in functions]
        largest = max(rooms, key=lambda r: rooms[r][1])
        fullest = max(rooms, key=lambda r: rooms[r][0])
        large = [c for c in self.own_classes() if c.members > 15 or c.methods > 30]
        members = max(self.own_classes(), key=lambda c: c.members)
        methods = max(self.own_classes(), key=lambda c: c.methods)
        code, tests = sum(r[1] for r in rooms.values()), sum(r[2] for r in rooms.values())
        # A file is a set of nothing but data if it has no class; only classes with methods are objects with a size worth a rule.
        return {
            "rooms": f"{len(rooms)}",
            "lines (and of tests beside them)": f"{code} ({tests})",
            "largest room, lines": f"{rooms[largest][1]} (`{largest}`)",
            "largest room, files": f"{rooms[fullest][0]} (`{fullest}`)",
            "functions: count, median lines, over 60, over 100":
                f"{len(lengths)}, {statistics.median(lengths):g}, {sum(n > 60 for n in lengths)}, {sum(n > 100 for n in lengths)}",
            "knots of .h+.cc units: count, largest": f"{len(self.knots)}, {max(map(len, self.knots), default=0)}",
            "types with over 15 members or 30 methods": f"{len(large)}",
            "most members": f"{members.members} (`{members.name}`)",
            "most methods": f"{methods.methods} (`{methods.name}`)",
            "comments that begin as fragments (What, Of, Where, Whether)": f"{len(self.fragments)}",
            "files outside of the machine's folders that name x86 (and of tests)":
                f"{sum(not TEST.search(f) for f in self.x86)} ({sum(bool(TEST.search(f)) for f in self.x86)})",
            "variables that live as long as the program": f"{len(self.globals)}",
        }

    def parts(self, limit):
        """The name of each part, its table's head, and its rows."""
        functions = sorted(self.own_functions(), key=lambda f: -f.lines)
        classes = sorted(self.own_classes(), key=lambda c: -(c.members + c.methods))
        return {
            "rooms": (("room", "files", "lines", "test lines"), [(r, *row) for r, row in self.rooms().items()]),
            "functions": (("lines", "function", "where"), [(f.lines, f.name, f"{f.file}:{f.line}") for f in functions[:limit or 10]]),
            "knots": (("units", "which"), [(len(k), " ".join(k)) for k in self.knots[:limit or None]]),
            "classes": (("members", "methods", "type", "where"),
                        [(c.members, c.methods, c.name, f"{c.file}:{c.line}") for c in classes[:limit or 20]]),
            "comments": (("where", "how it begins"), [(f"{f}:{n}", text[:90]) for f, n, text in self.fragments[:limit or None]]),
            "x86": (("file", "names"), [(f, " ".join(found)) for f, found in self.x86.items()][:limit or None]),
            "globals": (("where", "name"), [(f"{v.file}:{v.line}", v.name) for v in self.globals[:limit or None]]),
        }


def print_table(head, rows):
    rows = [tuple(map(str, row)) for row in [head, *rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=pathlib.Path, default=HERE)
    parser.add_argument("--commit", metavar="REV")
    parser.add_argument("--before", metavar="REV")
    parser.add_argument("--only", choices=["summary", "rooms", "functions", "knots", "classes", "comments", "x86", "globals"])
    parser.add_argument("-n", type=int, default=0, metavar="N", help="rows of each list")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    house = House(files_of_commit(args.commit) if args.commit else files_of_directory(args.directory))
    if args.before:
        before = House(files_of_commit(args.before)).summary()
        print("| what | before | now |\n|---|---|---|")
        for name, value in house.summary().items():
            print(f"| {name} | {before[name]} | {value} |")
        return 0
    if args.json:
        json.dump({"summary": house.summary(), **{name: [dict(zip(head, row)) for row in rows]
                                                  for name, (head, rows) in house.parts(args.n).items()}}, sys.stdout, indent=1)
        print()
        return 0
    if args.only in (None, "summary"):
        print_table(("what", "now"), house.summary().items())
    for name, (head, rows) in house.parts(args.n).items():
        if args.only in (None, name):
            print(f"\n{name}")
            print_table(head, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
