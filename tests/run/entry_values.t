# SPDX-License-Identifier: MIT
# Arguments in the middle of functions that have not kept them: their callers tell (DW_OP_entry_value).
as: both

case: what callers say by constants, registers and their own frames
until: alone
run: blip record --line entry_values.c:12 --args -o t -- $TARGETS/entry_values 2
reads:
check: [(e.a, e.b, e.text) for e in events()][:5]
  == [(0, 7, "hello"), (10, 0, "other"), (1, 7, "hello"), (12, 1, "other"), (8, 2, events()[4].text)]

case: a caller that debugging information does not name
until: alone
run: blip trace --line entry_values.c:12 --capture 'a, b' -- $TARGETS/entry_values 0
expect-match: a = 8, b = 2
expect-match: a = <

case: a filter decides by what callers say
until: alone
run: blip record --line entry_values.c:12 --filter 'a == 12 && b == 1' --args -o t -- $TARGETS/entry_values 3
reads:
check: [(e.a, e.b, e.text) for e in events()] == [(12, 1, "other")]

case: what a caller says by its own entry
until: alone
run: blip record --line entry_values.c:12 --filter 'a == 41' --args -o t -- $TARGETS/entry_values 1
reads:
check: [(e.a, e.b, e.text) for e in events()] == [(41, 1, "outer")]
