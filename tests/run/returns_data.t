# SPDX-License-Identifier: MIT
# --return with --capture, --args and --filter: what a function returns, by its type, and what was at its entry.
as: both
target: returned 3

case: numbers of every width
each: returned returned_o0
target: $EACH 3
run: blip record -p $PID --capture 'r = $return' --return give_char --return give_byte --return give_short --return give_int --return give_unsigned --return give_long
  --return give_bool --return give_color --return give_float --return give_double -o t
reads:
check: [[e.r for e in events(f"give_{n}:return")] for n in ("char", "byte", "short", "int", "unsigned", "long")]
  == [[0, -1, -2], [200, 201, 202], [-300, -301, -302], [-1000000, -1000001, -1000002], [4000000000, 4000000001, 4000000002], [-5000000000, -5000000001, -5000000002]]
check: [[e.r for e in events(f"give_{n}:return")] for n in ("bool", "color", "float", "double")] == [[1, 0, 1], [5, -3, 5], [0.5, 1.5, 2.5], [-2.25, -3.25, -4.25]]

case: each by its own type
each: returned returned_o0
target: $EACH 3
run: blip trace -p $PID --capture 'r = $return' --return 'give_*' --json
check: [[ord(e["captures"]["r"]) for e in json_lines() if e["name"] == f"give_{n}:return"] for n in ("char", "byte")] == [[0, 255, 254], [200, 201, 202]]
check: [[e["captures"]["r"] for e in json_lines() if e["name"] == f"give_{n}:return"] for n in ("short", "int", "unsigned", "long")]
  == [[-300, -301, -302], [-1000000, -1000001, -1000002], [4000000000, 4000000001, 4000000002], [-5000000000, -5000000001, -5000000002]]
check: [[e["captures"]["r"] for e in json_lines() if e["name"] == f"give_{n}:return"] for n in ("bool", "float", "double", "text", "pointer", "reference")]
  == [[True, False, True], [0.5, 1.5, 2.5], [-2.25, -3.25, -4.25], ["a text", "a text", None], [numbers, numbers + 8, numbers + 16], [10, 11, 12]]
check: [[e["captures"]["r"] for e in json_lines() if e["name"] == f"give_{n}:return"] for n in ("pair", "longs", "mixed", "doubles")]
  == [[{"x": i, "y": -i} for i in range(3)], [{"first": i, "second": -7 * i} for i in range(3)], [{"ratio": i + 0.5, "count": 3 * i} for i in range(3)], [{"re": i + 0.25, "im": -i - 0.5} for i in range(3)]]
check: [e["captures"]["r"]["words"] for e in json_lines() if e["name"] == "give_large:return"] == [[i, 2 * i, 3 * i, 4 * i] for i in range(3)]

case: what is returned in memory, and what it points to
each: returned returned_o0
target: $EACH 3
run: blip trace -p $PID --return give_large --capture '$return.name, $return.words[1]' --return give_handle --capture '*$return.number_'
  --return give_unique --capture '*$return' --return give_color --capture '$return' --return give_pointer --capture '*$return'
expect-match: give_large:return: \{ ret = 0x[0-9a-f]+, latency_ns = \d+, depth = 0, tail = 0, \$return.name = "large", \$return.words\[1\] = 2 \}
expect-match: \*\$return.number_ = 71 \}
expect-match: give_unique.* \*\$return = 92 \}
expect-match: \$return = GREEN \(5\) \}
expect-match: \$return = BLUE \(-3\) \}
expect-match: give_pointer.* \*\$return = 12 \}

case: what was at the entry
each: returned returned_o0
target: $EACH 3
run: blip record -p $PID --return change --capture 'ret, n = entry(i), px = entry(p.x), wy = entry(where->y), now = entry(where)->y, t = entry(text), p = entry(p), latency_ns' -o t
reads:
exact:
check: [(e.n, e.px, e.wy, e.now, e.t, e.ret) for e in events()]
  == [(0, 0, 6, 106, "word", 125), (1, 1, 106, 206, "word", 226), (2, 2, 206, 306, "word", 327)]

case: all arguments, as they were
each: returned returned_o0
target: $EACH 2
run: blip trace -p $PID --return change --args
expect-match: change.*: \{ ret = 0x7d, latency_ns = \d+, depth = 0, tail = 0, p = \{ x = 0, y = 2 \}, where = 0x[0-9a-f]+, text = "word", i = 0 \}
expect-match: ret = 0xe2, .* p = \{ x = 1, y = 2 \}, where = 0x[0-9a-f]+, text = "word", i = 1 \}

case: recursion
target: recursion 12
run: blip record -p $PID --return fib --capture 'n = entry(n), r = $return' -o t
exact:
check: {(e.n, e.r, e.ret) for e in events()} == {(n, r, r) for n, r in enumerate([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])}
check: all((13 - e.n) // 2 <= e.depth <= 12 - e.n for e in events()) and {e.depth for e in events()} == set(range(12))

case: longjmp
target: call_kinds longjmp 300
run: blip record -p $PID --return leap --capture 'i = entry(i)' -o t
exact:
check: len(events()) == 200 and all(e.ret == 2 * e.i for e in events())

case: exceptions
target: throws 300
run: blip record -p $PID --return 'shop::*' --capture 'i = entry(i)' -o t
check: len(events()) == 700 and all(e.ret == 5 * e.i for e in events("shop::inner:return"))

case: stacks of their own
target: call_kinds contexts 50
run: blip record -p $PID --return pause_in_the_middle --capture 'i = entry(i)' -o t
exact:
check: len(events()) == 400 and all(e.ret == e.i + 1000 for e in events())

case: a handler in the middle of a call
target: call_kinds handler 200
run: blip record -p $PID --return interrupted --capture 'i = entry(i)' --return in_handler --capture 's = entry(i)' -o t
exact:
check: all(e.ret == 5 * e.i for e in events("interrupted:return")) and {e.s for e in events("in_handler:return")} == {12}

case: a fork in the middle of a call
target: call_kinds fork 20
run: blip record -p $PID --return twice --capture 'i = entry(i)' -o t
exact:
check: sorted(e.ret - e.i for e in events()) == [0] * 20 + [1] * 20

case: tail calls have no result, but arguments
target: call_kinds tail 20
run: blip trace -p $PID --return first --capture 'i = entry(i), r = $return, ret'
expect-match: ret = 0x0, .* tail = 1, i = 19, r = <bad address> \}
expect-not: r = 0

case: threads that end inside of a call
target: call_kinds threads 100
run: blip record -p $PID --return in_thread --capture 'i = entry(i)' -o t
exact:
check: all(e.ret == e.i + 7 for e in events())

case: many threads
target: threads 8 5000
run: blip record -p $PID --return work --capture 'a = entry($rdi), r = $return' --subbuf-size 4M -o t
exact:
check: all(e.ret == e.r for e in events())

case: what could not be read at the entry is a fault
target: typed 3
run: blip trace -p $PID --return text_of --capture 'b = entry(*(int *)bad), n = entry(size)' --max-events 1
expect-match: b = <bad address>, n = 17 \}

case: filters
target: typed 4
run: blip record -p $PID --return handle --filter 'entry(n) > 0 && entry(req->path) == "/last" && latency_ns > 0 && $return < 0' --capture 'n = entry(n)' -o t
reads:
check: [e.n for e in events()] == [1, 3]

case: count by values
target: typed 4
run: blip count -p $PID --function handle --filter 'n >= 2 && req->path == "/admin"' --return by_value --filter 'entry(p.x) > 1' --function text_of
check: table() == {"handle": 1, "by_value:return": 2, "text_of": 4}

case: latencies of some calls
target: typed 4
run: blip count -p $PID --latency --function handle --filter 'entry(n) != 2' --json
check: json_lines()[0]["calls"] == 3

case: with the kernel's clock
target: recursion 8
run: blip record -p $PID --clock monotonic --return fib --capture 'n = entry(n)' -o t
exact:
check: events()[-1].n == 8 and events()[-1].ret == fib

case: with traps
target: recursion 8
run: blip record -p $PID --backend trap --return fib --capture 'n = entry(n)' -o t
exact:
check: {(e.n, e.ret) for e in events()} == {(0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 5), (6, 8), (7, 13), (8, 21)}

case: functions of the C library, without debugging information
target: typed_bare 1
run: blip trace -p $PID --return libc.so.6:write --capture 'n = $return, entry(fd), entry(nbytes)' --max-events 1
expect-match: write:return: \{ .* n = (\d+), entry\(fd\) = 1, entry\(nbytes\) = \1 \}

case: arguments by position
target: typed_bare 4
run: blip record -p $PID --return handle --capture 'n = (int)entry(arg1)' --filter 'entry(arg1) > 1' -o t
check: [e.n for e in events()] == [2, 3]

case: globals are still there
target: typed 2
run: blip record -p $PID --return handle --capture 'after = global_counter, before = entry(global_counter)' -o t
check: [(e.before, e.after) for e in events()] == [(40, 41), (41, 42)]

case: nothing is left of it
target: recursion 8
run: blip record -p $PID --return fib --args -o t
unharmed:
check: not re.search("blip", read_file(f"/proc/{PID}/maps"))
