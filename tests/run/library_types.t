# SPDX-License-Identifier: MIT
# Values of standard libraries: texts, sequences, optional values, owners, in C++, Rust and Go.
target: containers 2

case: texts
each: containers containers_o0 containers_clang
needs: clang-14
target: $EACH 2
run: blip trace -p $PID --function texts --args --capture '*p' --max-events 1
expect-match: texts: \{ s = "x{40}", v = "a view", by_value = "short", p = 0x[0-9a-f]+, \*p = "other" \}

case: values that may not be there
each: containers containers_o0
target: $EACH 2
run: blip trace -p $PID --function optionals --args --max-events 2
expect-match: optionals: \{ o = \{ has_value = false, value = 0 \}, point = \{ has_value = false, value = \[ ?\] \}, text = \{ has_value = false, value = "" \} \}
expect-match: optionals: \{ o = \{ has_value = true, value = 42 \}, point = \{ has_value = true, value = \[ \{ x = 1, y = 2.5 \} \] \}, text = \{ has_value = true, value = "other" \} \}

case: owners are pointers
each: containers containers_o0 containers_clang
needs: clang-14
target: $EACH 2
run: blip trace -p $PID --function owners --args --capture 'n->name, n->next->name, shared->y' --max-events 1
expect-match: owners: \{ n = 0x[0-9a-f]+, shared = 0x[0-9a-f]+, raw = 0x[0-9a-f]+, n->name = "first", n->next->name = "second", shared->y = 4 \}

case: inside of a structure, and what comes behind it
each: containers containers_o0 containers_clang
needs: clang-14
target: $EACH 2
run: blip trace -p $PID --function handle --args --max-events 1
expect-match: r = \{ path = "/admin", sizes = \[ 1, 2, 3 \], code = \{ has_value = true, value = 404 \}, color = kGreen \(7\), ok = true, at = 0x[0-9a-f]+, shorts = \[ 1, 2, 3 \] \}
expect-match: \}, f = 2.25, c = kRed \(0\), letter = 'q' \(113\) \}

case: sequences of structures, and none
each: containers containers_o0 containers_clang
needs: clang-14
target: $EACH 2
run: blip trace -p $PID --function points --args --max-events 1
expect-match: points: \{ all = \[ \{ x = 1, y = 1.5 \}, \{ x = 2, y = 2.5 \} \], none = \[ ?\] \}

case: sequences of texts, and none
each: containers containers_o0 containers_clang
needs: clang-14
target: $EACH 2
run: blip trace -p $PID --function names --capture 'all' --max-events 1
expect-match: names: \{ all = \[ "one", "y{40}", "" \] \}
run: blip trace -p $PID --function names --capture 'none' --max-events 1
expect-match: names: \{ none = \[ ?\] \}
run: blip trace -p $PID --function names --capture 'views' --max-events 1
expect-match: names: \{ views = \[ "a view", "another" \] \}
run: blip trace -p $PID --function names --capture 'many' --max-events 1 --json
check: [e["captures"]["many"] for e in json_lines()] == [["same"] * 20]
run: blip record -p $PID --function names --capture 'all, size = 7' -o t
reads:
sh: blip view t
expect-match: \{ all = \[ "one", "y{40}", "" \], size = 7 \}
run: blip trace -p $PID --function names --args --max-events 1
expect-match: all = \[ "one", "y{40}", "" \], none = \[ ?\], many = 

case: members of this, by name alone
run: blip trace -p $PID --function Counter::add --capture 'label, base + n' --max-events 1
expect-match: \{ label = "member", base \+ n = 8 \}

# In code that is not optimized, the stores of the prologue tell what is passed.
case: Rust
each: containers_rust containers_rust_debug
needs: rustc
target: $EACH 2
run: blip trace -p $PID --args --function texts --function numbers --function handle --max-events 3
expect-match: texts: \{ s = "static", heap = "on the heap", owned = "owned" \}
expect-match: numbers: \{ all = \[ 10, -20, 30 \], slice = \[ 7, 8, 9 \], yes = true, small = -3 \}
expect-match: handle: \{ r = 0x[0-9a-f]+, n = 0 \}

case: Rust's enums show the variant that is there
each: containers_rust containers_rust_debug
needs: rustc
target: $EACH 4
run: blip trace -p $PID --function shapes --capture '*s, *maybe, *boxed' --max-events 4
expect-match: \{ \*s = \{ variant = Empty \(0\) \}, \*maybe = \{ variant = None \(0\) \}, \*boxed = \{ variant = Some \(0\), Some = \[ 0x[0-9a-f]+ \] \} \}
expect-match: \*s = \{ variant = Circle \(1\), Circle = \[ 2.5 \] \}, \*maybe = \{ variant = Some \(1\), Some = \[ 42 \] \}, \*boxed = \{ variant = None \(1\) \} \}
expect-match: \*s = \{ variant = Rect \(2\), Rect = \[ \{ w = 3, h = -4 \} \] \}
expect-match: \*s = \{ variant = Label \(3\), Label = "a label" \}

case: Rust's sequences of texts
each: containers_rust containers_rust_debug
needs: rustc
target: $EACH 4
run: blip trace -p $PID --function shapes --capture '*names' --max-events 4
check: re.findall(r"names = (.*) }", out) == ["[ ]", '[ "name 0" ]', '[ "name 0", "name 1" ]', '[ "name 0", "name 1", "name 2" ]']

case: Rust's enums, as gdb shows them
needs: rustc gdb
target: containers_rust_debug 3
sh: echo > line; gdb -q -nx -batch -ex 'set debuginfod enabled off' -ex 'break shapes' -ex 'run 3 < line' -ex 'print *s' -ex continue -ex 'print *s' -ex continue
  -ex 'print *s' $TARGETS/containers_rust_debug 2>&1
expect-match: (?s)= containers::Shape::Empty\n.*= containers::Shape::Circle\(2.5\)\n.*= containers::Shape::Rect ?\{w: 3, h: -4\}
run: blip trace -p $PID --function shapes --capture '*s' --max-events 3
check: re.findall(r"variant = (\w+)", out) == ["Empty", "Circle", "Rect"]

case: Rust, by names
each: containers_rust containers_rust_debug
needs: rustc
target: $EACH 2
run: blip trace -p $PID --function handle --capture 'r->path, r->sizes, r->who, r->path == "/rust"' --max-events 1
expect-match: \{ r->path = "/rust", r->sizes = \[ 1, 2 \], r->who = "me", r->path == "/rust" = 1 \}

case: Go
needs: go
target: containers_go 2
state: maps text fds left loose
run: blip trace -p $PID --function main.handle --args --max-events 2
expect-match: main.handle: \{ path = "/go", sizes = \[ 1, -2, 3 \], n = 0, yes = true, ratio = 1.5 \}
expect-match: main.handle: \{ path = "/go", sizes = \[ 1, -2, 3 \], n = 1, yes = false, ratio = 1.5 \}
