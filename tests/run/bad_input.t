# SPDX-License-Identifier: MIT
# blip refuses what cannot be meant and underlines its place, before it touches the target.
as: both
target: typed 1

case: an unknown variable
run: blip trace -p $PID --function handle --capture 'n, reg->path'
usage: there is no variable 'reg' here: visible are req
underlines: reg
run: blip trace -p $PID --function handle --filter 'n > 5 && whom == 0'
usage: there is no variable 'whom' here: visible are who
underlines: whom
run: blip trace -p $PID --function handle --capture 'other.c::n'
usage: there is no variable 'n' in 'other.c'
underlines: other.c::n

case: a wrong member
run: blip trace -p $PID --function handle --capture 'req->next->pth'
usage: struct request has no member 'pth'; it has path
underlines: pth
run: blip trace -p $PID --function by_value --capture 'p.z'
usage: struct point has no member 'z'; it has x
underlines: z

case: types that do not go together
run: blip trace -p $PID --function handle --filter 'n == "x"'
usage: its type is int: it cannot be compared with a text
underlines: n == "x"
run: blip trace -p $PID --function handle --filter 'req * 2'
usage: cast pointers to (long) first
underlines: req * 2
run: blip trace -p $PID --function handle --filter '*req'
usage: its type is struct request: it is no
underlines: *req
run: blip trace -p $PID --function numbers --capture 'a + 1'
usage: floating-point numbers can be shown and compared
underlines: a + 1
run: blip trace -p $PID --function numbers --filter 'color == PURPLE'
usage: there is no variable 'PURPLE' here
underlines: PURPLE
run: blip trace -p $PID --function handle --capture '(struct nothing *)req'
usage: there is no type 'struct nothing'
underlines: struct nothing *

case: what points to nothing
run: blip trace -p $PID --function text_of --capture '*bad'
usage: it points to void: say what it is
underlines: *bad
run: blip trace -p $PID --function text_of --capture 'bad[1]'
usage: void
underlines: bad[1]
run: blip trace -p $PID --function handle --capture 'n->x'
usage: its type is int: it is no pointer
underlines: n

case: no debugging information
target: typed_bare 1
run: blip trace -p $PID --function handle --capture 'n'
usage: typed_bare has no debugging information (looked in, without it there are arg0 to arg5
underlines: n
run: blip trace -p $PID --return handle --capture 'x = entry(n)'
usage: typed_bare has no debugging information (looked in, without it there are arg0 to arg5
underlines: n
run: blip trace -p $PID --function handle --capture '*(struct request *)arg0'
usage: there is no type 'struct request', typed_bare has no debugging information
underlines: struct request *

case: too long, too deep
prepare: python3 -c 'print("long=" + "n+" * 3000 + "n"); print("deep=" + "(" * 200 + "n"); print("steps=" + "*".join(["n"] * 40))'
run: blip trace -p $PID --function handle --filter '$long'
usage: the expression is too long: 6001 bytes, at most 4096
run: blip trace -p $PID --function handle --filter '$deep'
usage: the expression is nested too deep
run: blip trace -p $PID --function handle --filter '$steps'
usage: this needs too many steps

case: types that contain themselves are shown down to a depth
run: blip trace -p $PID --function handle --capture '*req, *req->next' --max-events 1
expect-match: next = 0x[0-9a-f]+, tag = "12345678" \}

case: more than an event holds is cut, and says so
run: blip trace -p $PID --function handle --capture 'a = (&req->headers[0])[0..64], b = (&req->headers[0])[1..65], c = (&req->headers[0])[2..66], d = (&req->headers[0])[3..67], e = (&req->headers[0])[4..68]' --max-events 1
expect-match: \.\.\.

case: what only returns have
run: blip trace -p $PID --function handle --capture '$return'
usage: '$return' is known only where a function returns: with --return
underlines: $return
run: blip trace -p $PID --function handle --filter 'n > 1 && latency_ns > 5'
usage: 'latency_ns' is known only where a function returns: with --return
underlines: latency_ns
run: blip trace -p $PID --function handle --capture 'entry(n)'
usage: entry(x) is known only where a function returns: with --return
underlines: entry(n)

case: what returns have no more
run: blip trace -p $PID --return handle --capture 'n'
usage: arguments and locals are gone when a function returns: use entry(n)
underlines: n
run: blip trace -p $PID --return handle --capture 'm'
usage: there is no variable 'm' here: visible are $return, ret, latency_ns, depth, tail, and at the entry
underlines: m
run: blip trace -p $PID --return handle --capture 'entry(m)'
usage: there is no variable 'm' here: visible are n
underlines: m
run: blip trace -p $PID --return handle --filter 'ret == -1'
usage: ret is unsigned: say (int)ret or (long)ret
underlines: ret == -1
run: blip trace -p $PID --return handle --capture 'entry(*req)'
usage: struct request is too large to be kept from the entry
underlines: entry(*req)
run: blip trace -p $PID --return handle --locals
usage: --locals: a function has none any more when it returns

case: nothing is returned
target: returned 1
run: blip trace -p $PID --return give_nothing --capture '$return'
usage: the function returns nothing
underlines: $return
run: blip trace -p $PID --return give_nothing --capture '$return' --return give_int --capture '$rat'
usage: give_int: --capture: there is no register 'rat'

case: nothing is returned by one of several
target: returned 1
run: blip trace -p $PID --return give_nothing --capture '$return' --return give_int --capture '$return'
expect-stderr: give_nothing is not probed: the function returns nothing
expect-match: give_int:return: .*\$return = 

case: words that are no expression
run: blip trace -p $PID --function handle --filter 'n >'
usage: should come here
run: blip trace -p $PID --function handle --filter 'n = 5'
usage: '=' compares nothing: use ==
underlines: =
run: blip trace -p $PID --function handle --filter 'n > 5 }'
usage: this character has no meaning here
underlines: }
run: blip trace -p $PID --function handle --capture 'n,'
usage: should come here
run: blip count -p $PID --function handle --filter 'm == 1'
usage: there is no variable 'm' here
underlines: m
