# SPDX-License-Identifier: MIT
# Calls that do not simply return: counted right, none wrong, the program unharmed.
as: both
timeout: 60

case: longjmp leaves no event
target: call_kinds longjmp 300
run: blip record -p $PID --return leap -o t
exact:
check: all(e.depth == 0 for e in events()) and len(events()) == 200

case: exceptions leave no event
target: throws 300
run: blip record -p $PID --return shop::* -o t
check: len(events("shop::inner:return")) == 200 == len(events("shop::middle:return"))
check: len(events("shop::outer:return")) == 300 and {e.depth for e in events("shop::outer:return")} == {0}

case: contexts with stacks of their own
target: call_kinds contexts 50
run: blip record -p $PID --return pause_in_the_middle -o t
exact:
check: sorted({e.ret for e in events()}) == list(range(1000, 1008))

case: coroutines
target: coroutines 20
run: blip record -p $PID --return step --return squares* -o t
check: len(events("step:return")) == calls

case: a handler on its own stack, in the middle of a call
target: call_kinds handler 200
run: blip record -p $PID --return interrupted --return in_handler -o t
exact:
check: len(events("interrupted:return")) == 200 and {e.ret for e in events("in_handler:return")} == {36}

case: a fork in the middle of a call
target: call_kinds fork 20
run: blip record -p $PID --return twice -o t
exact:
check: sorted(e.ret for e in events()) == sorted([*range(20), *range(1, 21)])

case: tail calls
target: call_kinds tail 200
run: blip record -p $PID --return first --return last -o t
check: {(e.ret, e.tail) for e in events("first:return")} == {(0, 1)} and len(events("first:return")) == 200
check: [e.ret for e in events("last:return")] == [(i + 1) ^ 0x55 for i in range(200)]
check: {e.depth for e in events()} == {0}

case: threads that end inside of a call
target: call_kinds threads 100
run: blip record -p $PID --return in_thread -o t
exact:
check: sorted(e.ret for e in events()) == [i + 7 for i in range(0, 100, 2)]

case: latencies lie between what the program measures inside and outside
target: call_kinds clock 8
run: blip record -p $PID --return timed -o t
exact:
check: all(int(a) * 0.999 <= e.latency_ns <= int(b) * 1.001 + 1000
  for a, e, b in zip(str(least).split(","), events(), str(most).split(",")))

case: gdb sees the program's own frames
as: root
needs: gdb
target: call_kinds wait 1
start: blip record -p $PID --return waits --return waits_outside -o t
go: nowait
wait: say waiting
sh: gdb -q -nx -batch -p $PID -ex bt -ex detach 2>/dev/null
expect-match: \bwaits \(
expect-match: \bwaits_outside \(
expect-match: \bmain \(
line: go
wait: done
end:
check: [(e.name, e.ret) for e in events()] == [("waits:return", 1), ("waits_outside:return", 2)]

case: ways to leave a function, in all ways to build it
each: exits exits_O0 exits_Os exits_nopie exits_with_frame_pointers
until: alone
run: blip record --return * -o t -- $TARGETS/$EACH
reads:
