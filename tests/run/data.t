# SPDX-License-Identifier: MIT
# --args, --locals, --capture, --filter: values by name and type, against what the target passes.
as: both
target: typed 4

case: arguments, optimized
run: blip record -p $PID --function handle --args -o t
reads:
exact:
check: [(e.n, e.who, e.small, e.large) for e in events()]
  == [(0, "a name", 200, -5000000000), (1, "a name", 201, -5000000000), (2, "", 202, -5000000000), (3, "a name", 203, -5000000000)]
check: events()[0].req == request

case: arguments, not optimized
target: typed_o0 4
run: blip record -p $PID --function handle --args -o t
reads:
exact:
check: [(e.n, e.who, e.small, e.large) for e in events()]
  == [(0, "a name", 200, -5000000000), (1, "a name", 201, -5000000000), (2, "", 202, -5000000000), (3, "a name", 203, -5000000000)]

case: floating point, bool, characters, enumerations
run: blip trace -p $PID --function numbers --args --max-events 2
expect-match: numbers: \{ a = 1.5, b = -0.25, yes = true, letter = 'q' \(113\), s = 0, color = RED \(0\) \}
expect-match: numbers: \{ a = 1.5, b = -0.25, yes = false, letter = 'q' \(113\), s = -1, color = BLUE \(-3\) \}

case: structures by value, arguments on the stack
run: blip trace -p $PID --function by_value --args --max-events 2
expect-match: by_value: \{ p = \{ x = 0, y = 0 \}, where = 0x[0-9a-f]+, seventh_a = 3, b = 4, c = 5, d = 6, e = 7, on_stack = 8 \}
expect-match: by_value: \{ p = \{ x = 1, y = -1 \},.* on_stack = 9 \}

case: a pointer that leads nowhere is no harm
run: blip trace -p $PID --function text_of --capture 'buffer, *(int *)bad, (char *)bad' --max-events 1
expect-match: text_of: \{ buffer = "words in a buffer", \*\(int \*\)bad = <bad address>, \(char \*\)bad = <bad address> \}

case: expressions
run: blip trace -p $PID --function handle --max-events 1
  --capture 'req->path, req->headers[1].name, *req, global_counter, next = req->next->path, part = global_text[0..n+3], req->kind, req->delta'
expect-match: req->path = "/admin", req->headers\[1\].name = "Accept", \*req = \{ id = 1, path = "/admin"
expect-match: headers = \[ \{ name = "Host", length = 4 \}, \{ .*length = 6 \}, \{ .*length = 7 \} \], at = \{ x = 3, y = -4 \}
expect-match: color = GREEN \(5\), kind = 5, delta = -7, next = 0x[0-9a-f]+, tag = "12345678" \}
expect-match: global_counter = 40, next = "/last", part = "a t", req->kind = 5, req->delta = -7 \}

case: expressions, read by others
run: blip record -p $PID --function handle --capture 'id = req->id, path = req->path, tag = req->tag, at = req->at, neg = -n' -o t
reads:
exact:
check: [(e.id, e.path, e.tag, e.neg) for e in events()]
  == [(1, "/admin", "12345678", 0), (2, "/last", "tail", -1), (1, "/admin", "12345678", -2), (2, "/last", "tail", -3)]

case: in JSON
run: blip trace -p $PID --function handle --capture 'at = req->at, lengths = req->headers[2].length, who' --json --max-events 3
expect-match: "at":\{"x":3,"y":-4\},"lengths":7,"who":"a name"
expect-match: "who":null

case: only what the filter lets through
run: blip record -p $PID --function handle --filter 'n > 0 && req->path == "/last"' --capture n -o t
reads:
check: [e.n for e in events()] == [1, 3]

case: a filter alone, by a register
run: blip record -p $PID --function handle --filter '$rsi >= 2' --context reg:rsi -o t
reads:
check: [e.rsi for e in events()] == [2, 3]

case: what cannot be read is not true
run: blip record -p $PID --function handle --filter 'who[0] == 97' --capture n -o t
reads:
check: [e.n for e in events()] == [0, 1, 3]

case: locals in the middle of a function
target: typed_o0 3
run: blip trace -p $PID --line typed.c:43 --locals --args --max-events 2
expect-match: typed.c:43: \{

case: without debugging information, by position
target: typed_bare 4
run: blip record -p $PID --function handle --args -o t
reads:
exact:
check: [(e.arg0 == request, e.arg1, e.arg3) for e in events()] == [(True, 0, 200), (False, 1, 201), (True, 2, 202), (False, 3, 203)]

case: a function of the C library by its prototype
target: typed_bare 1
run: blip trace -p $PID --function libc.so.6:write --args --max-events 1
expect-match: write: \{ fd = 1, buf = 0x[0-9a-f]+, nbytes = \d+ \}

case: strings are cut
run: blip trace -p $PID --function text_of --capture buffer --string-max 5 --max-events 1
expect-match: buffer = "words"\.\.\.

case: an unknown variable
run: blip trace -p $PID --function handle --capture 'nn, req->path'
usage: there is no variable 'nn' here: visible are n,

case: an unknown member
run: blip trace -p $PID --function handle --capture 'req->pth'
usage: struct request has no member 'pth'; it has path

case: no pointer
run: blip trace -p $PID --function handle --capture '*n'
usage: its type is int: it is no pointer

case: no debugging information
target: typed_bare 1
run: blip trace -p $PID --function handle --capture n
usage: typed_bare has no debugging information (looked in

case: locals without debugging information
target: typed_bare 1
run: blip trace -p $PID --function handle --locals
expect-exit: 1
expect-stderr: --locals: typed_bare has no debugging information


case: not with the kernel's breakpoints
run: blip trace -p $PID --function handle --args --backend uprobe
usage: cannot look at the program's data

case: a program with libseccomp is not killed by a read
as: root
target: locks_up_later
with: libseccomp.so.2
state: text fds left
run: blip record -p $PID --function work --capture 's, i, first = *s' -o t
reads:
exact:
check: [(e.i, e.faults) for e in events()] == [(i, 0) for i in range(10)] + [(i, 5) for i in range(10)]

case: nothing but what is optimized out
run: blip record -p $PID --function handle --locals -o t
reads:
exact:
run: blip trace -p $PID --function handle --locals --max-events 1
expect-match: handle: \{ sum = <optimized out> \}

case: another file's static is seen only by its file's name
target: twins 10
run: blip count -p $PID --function __impl_of_it --filter 'calls_of_other > 3'
usage: calls_of_other, twins_other.c::calls_of_other

case: another file's static, by its file's name
target: twins 10
run: blip count -p $PID --function __impl_of_it --filter 'twins_other.c::calls_of_other > 3'
check: table() == {"__impl_of_it": 7}
