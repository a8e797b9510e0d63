# SPDX-License-Identifier: MIT
"""Inside gdb: runs the program and prints, for each call of a function f<n>, what it returns, as JSON."""
import json
import re

import gdb

NUMBERS = {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM}


def plain(value):
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return plain(value.referenced_value())
    if kind.code in NUMBERS:
        return int(value)
    if kind.code == gdb.TYPE_CODE_FLT:
        return float(value)
    if kind.code == gdb.TYPE_CODE_PTR:
        is_text = kind.target().strip_typedefs().code == gdb.TYPE_CODE_INT and kind.target().sizeof == 1
        return {"pointer": int(value), "text": value.string() if int(value) else None} if is_text else int(value)
    if kind.code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        return [plain(value[i]) for i in range(first, last + 1)]
    return {field.name: plain(value[field]) for field in kind.fields()}


def main():
    for setting in ("pagination off", "confirm off"):
        gdb.execute(f"set {setting}", to_string=True)
    for line in gdb.execute("info functions -q -n ^f[0-9]", to_string=True).splitlines():
        if found := re.search(r"\b(f\d+)\(", line):
            gdb.execute(f"break {found[1]}", to_string=True)
    gdb.execute("run", to_string=True)
    while gdb.selected_inferior().pid:
        name = gdb.selected_frame().name()
        end = gdb.FinishBreakpoint(gdb.selected_frame(), internal=True)
        gdb.execute("continue", to_string=True)
        if end.return_value is not None:
            print("VALUE " + json.dumps([name.split("(")[0], plain(end.return_value)]))
        gdb.execute("continue", to_string=True)


try:
    main()
except gdb.error as error:
    print(f"gdb: {error}")
