# SPDX-License-Identifier: MIT
"""Runs inside gdb, for tests/values.py: stops a program at the lines of its functions and compares each variable that gdb
shows with what blip finds. Settings come from the environment; the last line printed is a summary in JSON."""
import collections
import json
import os
import random
import re
import struct
import subprocess

import gdb

TOOL = os.environ["VALUES_AT"]
PROGRAM = os.environ["PROGRAM"]
MODULE = os.environ.get("MODULE", PROGRAM)  # whose functions are compared
SYMBOLS = (os.environ.get("DEBUG_FILE", "").split() or [MODULE])[0]
PATTERN = os.environ.get("FUNCTIONS", "")
MOST_FUNCTIONS = int(os.environ.get("MOST_FUNCTIONS", "60"))
MOST_LINES = int(os.environ.get("MOST_LINES", "200"))
MOST_STOPS = int(os.environ.get("MOST_STOPS", "400"))
MISREADS_LISTS = os.environ.get("MISREADS_LISTS") == "1"  # gdb says "optimized out" where a variable has a list of places
HITS = int(os.environ.get("HITS", "2"))  # per address
ENTRIES = 60  # of a function, whose registers decide where blip and gdb differ
GENERAL = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
MOST_ELEMENTS = 4
counts = collections.Counter()
shown = []


def note(kind, text):
    counts[kind] += 1
    if kind in ("wrong", "invented", "missing") and sum(1 for k, _ in shown if k == kind) < 25:
        shown.append((kind, text))


def bits(value, width):
    return "%x" % (value & ((1 << width) - 1))


def parts(value, path, out, depth=0):
    """Scalar parts of a value, as the tool prints them."""
    kind = value.type.strip_typedefs()
    size = kind.sizeof
    if depth > 8:
        return
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for field in kind.fields():
            if not hasattr(field, "bitpos"):
                continue  # static
            name = path if field.is_base_class or not field.name else f"{path}.{field.name}"
            part = value[field]
            if field.bitsize:
                out[name] = "out" if part.is_optimized_out else bits(int(part), field.bitsize)
            else:
                parts(part, name, out, depth + 1)
    elif kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        for i in range(low, min(high, low + MOST_ELEMENTS - 1) + 1):
            parts(value[i], f"{path}[{i - low}]", out, depth + 1)
    elif value.is_optimized_out:
        out[path] = "out"
    elif kind.code in (gdb.TYPE_CODE_REF, getattr(gdb, "TYPE_CODE_RVALUE_REF", gdb.TYPE_CODE_REF)):
        out[path] = bits(int(value.referenced_value().address), 64)
    elif kind.code == gdb.TYPE_CODE_FLT and size in (4, 8):
        out[path] = bits(struct.unpack("<Q" if size == 8 else "<I", struct.pack("<d" if size == 8 else "<f", float(value)))[0], 8 * size)
    elif kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR) and size <= 8:
        out[path] = bits(int(value), 8 * size)


class Blip:
    def __init__(self):
        command = [TOOL, MODULE] + os.environ.get("DEBUG_FILE", "").split()
        self.tool = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def values(self, pc, is_entry, bias):
        words = ["%x" % (pc - bias), str(int(is_entry)), "%x" % bias, str(gdb.selected_inferior().pid)]
        read = lambda text: int(gdb.parse_and_eval(text)) & (2**64 - 1)
        gdb.execute("set language c")  # the program may be in Rust
        words += ["%x" % read(f"(unsigned long)${name}") for name in ["fs_base"] + GENERAL]
        for i in range(16):
            words += ["%x" % read(f"$xmm{i}.v2_int64[{half}]") for half in (0, 1)]
        gdb.execute("set language auto")
        self.tool.stdin.write(" ".join(words) + "\n")
        self.tool.stdin.flush()
        result = {"parameter": {}, "local": {}, "constant": {}}
        while (line := self.tool.stdout.readline().rstrip("\n")) != ".":
            if not line:
                raise RuntimeError("the tool has ended")
            kind, rest = line.split(" ", 1)
            path, value = rest.rsplit(" ", 1)
            result[kind][path] = value
        return result


def gdb_values(frame):
    """Names to (is_argument, parts) for the frame's function; inner blocks hide outer ones."""
    result = {}
    try:
        block = frame.block()
    except RuntimeError:
        return result
    while block and not block.is_static and not block.is_global:
        for symbol in block:
            if symbol.name in result or not (symbol.is_argument or symbol.is_variable):
                continue
            out = {}
            try:
                value = symbol.value(frame)
                if value.type.sizeof <= 4096:
                    parts(value, symbol.name, out)
            except (gdb.error, gdb.MemoryError, OverflowError, TypeError, ValueError, struct.error):
                counts["gdb cannot"] += 1
                out = {}
            result[symbol.name] = (symbol.is_argument, out)
        if block.function:
            break
        block = block.superblock
    return result


def top(path):
    for i, c in enumerate(path):
        if c in ".[":
            return path[:i]
    return path


RANGE = re.compile(r"Range (0x[0-9a-f]+)-(0x[0-9a-f]+): (.*?)(?=Range 0x|$)", re.S)


def is_pointer_to_nothing(name):
    """Whether it points to something that is optimized out: gdb shows 0 for it."""
    try:
        return "implicit_pointer" in location_here(name)
    except gdb.error:
        return False


def location_here(name):
    """Where the variable is at the program counter, as gdb describes it."""
    text = gdb.execute(f"info address {name}", to_string=True)
    pc = gdb.selected_frame().pc()
    return next((what for begin, end, what in RANGE.findall(text) if int(begin, 16) <= pc < int(end, 16)), text)


ENTRY_VALUE = re.compile(r"entry_value\s+\d+: DW_OP_reg\d+ \[\$(\w+)\](?!.*DW_OP_(?!stack_value))", re.S)
entries = {}  # functions by their first instructions
registers_at_entry = {}  # by where the return address is: of the call that is under way


def was_so_at_entry(name, value):
    """Whether the variable is what a register held at the entry, and that was the value: blip knows callers that gdb does not, and in
    inlined functions gdb 13 takes registers of the wrong frame."""
    frame = gdb.selected_frame()
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    found = ENTRY_VALUE.search(location_here(name))
    for slot, registers in registers_at_entry.get(frame.function().name, ()):
        if found and slot == return_slot(frame):
            return int(value, 16) in [registers[found.group(1)] & ((1 << width) - 1) for width in (8, 16, 32, 64)]
    return False


def return_slot(frame):
    """Where the frame's return address is."""
    older = frame.older()
    return int(older.read_register("rsp")) - 8 if older else None


def invented(name, is_entry, value=None):
    """What it is when blip has a value and gdb none."""
    if is_entry:
        return "by the convention"  # behind the prologue it may be gone; tests/passed.py has the programs' own word
    if value is not None and was_so_at_entry(name, value):
        return "more than gdb"
    if not MISREADS_LISTS:
        return "invented"
    return "misread by gdb" if "multi-location" in gdb.execute(f"info address {name}", to_string=True) else "invented"


def compare(where, name, ours, theirs, is_entry):
    """ours, theirs: path to value, of one variable."""
    if name in ours and ours[name] == "out" and is_pointer_to_nothing(name):
        counts["pointer to nothing"] += 1
        return
    if ours.get(name) == "gone":
        counts["its frame is gone"] += 1  # gdb shows what is left below rsp
        return
    if name in ours and ours[name] == "out" and not (len(theirs) == 1 and theirs.get(name) not in (None, "out")):
        for value in theirs.values():
            note("both out" if value == "out" else "missing", f"{where}: {name}: gdb has {value}")
        return
    for path, value in theirs.items():
        mine = ours.get(path)
        text = f"{where}: {path}: gdb {value}, blip {mine}"
        if mine is None:
            if value != "out":
                note("no such part", text)
                if len(shown) < 60:
                    shown.append(("no such part", text))
            elif any(p.startswith(path) for p in ours):
                note(invented(name, is_entry), text)
        elif value == "out":
            note("both out" if mine == "out" else invented(name, is_entry, mine), text)
        elif mine == "out":
            # Behind the pieces that are told gdb reads zeros.
            note("gdb's zero" if value == "0" and path != name else "missing", text)
        else:
            note("equal" if mine == value else "wrong in gdb" if was_so_at_entry(name, mine) else "wrong", text)


def group(values):
    result = collections.defaultdict(dict)
    for path, value in values.items():
        result[top(path)][path] = value
    return result


def is_set_later(name, frame):
    """Whether gdb reads an argument in the function's own frame before the first instruction has stored it."""
    try:
        return frame.pc() in entries and re.search(r"frame base|DW_OP_fbreg|at offset", location_here(name)) is not None
    except gdb.error:
        return False


def compare_frame(where, ours, frame, only_arguments=False):
    mine = group(ours["parameter"])
    packs = {name.split("#")[0] for name in mine if "#" in name}  # gdb has one name for several
    for name, values in group(ours["local"]).items():
        mine.setdefault(name, values)
    for name, (is_argument, theirs) in gdb_values(frame).items():
        if only_arguments and not is_argument:
            continue
        if frame.type() == gdb.INLINE_FRAME and name in ours["constant"] and set(theirs.values()) == {"out"}:
            counts["a constant"] += 1  # gdb 13 does not see DW_AT_const_value in copies of inlined functions
        elif only_arguments and is_set_later(name, frame):
            counts["not stored yet"] += 1
        elif theirs and name not in packs:
            compare(where, name, mine.get(name, {}), theirs, only_arguments)


def functions_of_program(bias):
    """Entries of functions with debugging information, by the symbol table."""
    result = []
    for line in subprocess.run(["nm", "-C", SYMBOLS], capture_output=True, text=True).stdout.splitlines():
        words = line.split(None, 2)
        if len(words) == 3 and words[1] in "tTwW":
            block = gdb.block_for_pc(int(words[0], 16) + bias)
            while block and not block.function:
                block = block.superblock
            entry = int(words[0], 16) + bias
            if block and not block.is_static and int(block.function.value().address) == entry:
                result.append((block, entry, words[2]))
    return result


def behind_prologue(block):
    text = gdb.execute(f"break -function {block.function.linkage_name or block.function.name}", to_string=True)
    gdb.execute("delete")
    return int(text.split(" at ")[1].split(":")[0].split(" ")[0], 16) if text.count(" at 0x") == 1 else None


def addresses_of(block, entry):
    """(behind the prologue, all lines) of a function."""
    lines = set()  # not by symtab.linetable(): gdb 13 ends there, if the program was optimized as a whole
    pc = block.start
    while pc < block.end:
        if pc != entry:
            lines.add(pc)
        last = gdb.find_pc_line(pc).last
        if not last or last < pc:
            break
        pc = last + 1
    return behind_prologue(block), lines


def of_function(block):
    """The block of the function, which may be an inlined one."""
    while block and not block.function:
        block = block.superblock
    return block


def load_bias():
    entry = int(re.search(r"AT_ENTRY .*(0x[0-9a-f]+)", gdb.execute("info auxv", to_string=True)).group(1), 16)
    if MODULE == PROGRAM:
        return entry - struct.unpack_from("<Q", open(PROGRAM, "rb").read(64), 24)[0]
    gdb.execute(f"tbreak *{entry:#x}", to_string=True)
    gdb.execute("continue", to_string=True)
    for line in open(f"/proc/{gdb.selected_inferior().pid}/maps"):
        if line.rstrip().endswith(" " + os.path.realpath(MODULE)):
            return int(line.split("-")[0], 16)
    raise RuntimeError(MODULE + " is not loaded")


def main():
    for setting in ("pagination off", "confirm off", "print entry-values no", "debuginfod enabled off", "startup-with-shell off"):
        try:
            gdb.execute("set " + setting)
        except gdb.error:
            pass
    gdb.execute("starti", to_string=True)
    bias = load_bias()
    behinds, breaks = {}, {}
    functions = functions_of_program(bias)
    if PATTERN:
        functions = [f for f in functions if re.search(PATTERN, f[2])]
    random.shuffle(functions)
    for block, entry, _ in functions[:MOST_FUNCTIONS]:
        behind, lines = addresses_of(block, entry)
        name = block.function.name
        entries[entry] = name
        if behind is not None and not block.start <= behind < block.end:
            behind = None  # of another part of the function, which has the same name
        if behind is not None:
            behinds[behind] = name
        for pc in sorted(lines)[:MOST_LINES] + [entry] + ([behind] if behind is not None else []):
            if pc not in breaks:
                breaks[pc] = gdb.Breakpoint(f"*{pc:#x}", internal=True)
    blip = Blip()
    hits = collections.Counter()
    at_entry = {}
    stops = 0
    while stops < MOST_STOPS:
        try:
            gdb.execute("continue", to_string=True)
            frame = gdb.newest_frame()
        except gdb.error:
            break
        if not gdb.selected_inferior().pid:
            break
        pc = frame.pc()
        if pc not in breaks:
            continue
        stops += 1
        hits[pc] += 1
        if hits[pc] >= (HITS if pc not in entries else max(HITS, ENTRIES)):
            breaks[pc].enabled = False
        function = frame.function()
        if not function:
            continue
        where = f"{function.name} {pc - bias:#x}"
        if pc in entries:
            slot = int(frame.read_register("rsp"))
            registers = {r: int(frame.read_register(r)) & (2**64 - 1) for r in GENERAL}
            registers_at_entry.setdefault(function.name, []).insert(0, (slot, registers))
            if hits[pc] > HITS:
                stops -= 1
                at_entry.pop(entries[pc], None)
                continue
            at_entry[entries[pc]] = blip.values(pc, True, bias)
        if pc in behinds and behinds[pc] in at_entry and function.name == behinds[pc]:
            compare_frame(where + " at its entry", at_entry.pop(behinds[pc]), frame, only_arguments=True)
        if pc not in entries:
            innermost, stands_in = of_function(gdb.block_for_pc(pc)), of_function(frame.block())
            if innermost and stands_in and (innermost.start, innermost.end) != (stands_in.start, stands_in.end):
                counts["other frame"] += 1  # gdb stands at the call of an inlined function
                continue
            compare_frame(where, blip.values(pc, False, bias), frame)
    counts["stops"] = stops
    try:
        gdb.execute("kill")
    except gdb.error:
        pass
    for kind, text in shown:
        print(kind + ":", text)
    print("SUMMARY " + json.dumps(counts))


random.seed(int(os.environ.get("SEED", "1")))
main()
