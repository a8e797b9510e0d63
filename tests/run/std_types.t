# SPDX-License-Identifier: MIT
# Types of libstdc++ by g++ and clang, and of libc++, with and without optimization; NULL, bad addresses, texts at the edge of memory.
target: node_types
each: node_types node_types_o0 node_types_clang node_types_clang_o0 node_types_libcxx node_types_libcxx_o0

case: arrays, spans and tuples, and their methods
needs: clang-14
target: $EACH
run: blip trace -p $PID --function others --capture 'a, some, two, t, t.1, a[1], a.size(), some.size(), two[1], some.empty()' --max-events 1
expect-match: others: \{ a = \[ 1, -2, 3, -4 \], some = \[ 10, 20, 30 \], two = \[ 10, 20 \], t = \{ \[0\] = 1, \[1\] = "two", \[2\] = 3.5 \}, t\.1 = "two", a\[1\] = -2, a\.size\(\) = 4, some\.size\(\) = 3, two\[1\] = 20, some\.empty\(\) = 0 \}

case: what an optional value has, if it is there
needs: clang-14
target: $EACH
run: blip trace -p $PID --function choices --capture 'round, y = o->y, has = o.has_value()' --json
check: [(e["captures"]["y"], e["captures"]["has"]) for e in json_lines()] == [(1, True), (None, False), (3, True)]
run: blip count -p $PID --function choices --filter 'o->y == 3 || o->y == 1'
expect: choices 2

case: NULL is told from a bad address
needs: clang-14
target: $EACH
run: blip trace -p $PID --function entries --capture 'n = e->note, bad = all[1].note, e->name, names[2]' --max-events 1
expect-match: entries: \{ n = NULL, bad = <bad address>, e->name = "first", names\[2\] = NULL \}
run: blip trace -p $PID --function entries --capture 'n = e->note, bad = all[1].note' --max-events 1 --json
check: [(e["captures"], e["missing"]) for e in json_lines()] == [({"n": None, "bad": None}, {"/captures/bad": "bad address"})]
run: blip record -p $PID --function entries --capture 'n = e->note, bad = all[1].note' -o t
sh: blip view t
expect-match: \{ n = NULL, bad = <bad address> \}

case: the readable beginning of a text
needs: clang-14
target: $EACH
run: blip trace -p $PID --function entries --capture 'edge' --max-events 1
expect-match: entries: \{ edge = "eeeee"\.\.\. \}

case: methods that are none
run: blip trace -p $PID --function others --capture 'a.begin()'
usage: begin() cannot be called
