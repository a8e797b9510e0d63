# SPDX-License-Identifier: MIT
# --mark PROVIDER:NAME: static marks (USDT), with their arguments.
as: both

case: every place of every mark, with its arguments, however the program is built
each: marks marks_o0 marks_clang marks_clang_o0 marks_static marks_nopie marks_stripped
target: $EACH 6
run: blip trace -p $PID --mark 'demo:*' --mark other:end__all --json
check: [e["args"]["arg1"] for e in json_lines() if e["name"] == "demo:begin"] == [0, 1, 2, 3, 4, 5]
check: [e["args"]["arg3"] for e in json_lines() if e["name"] == "demo:begin"] == [0, -1, -2, -3, -4, -5]
check: [list(e["args"].values()) for e in json_lines() if e["name"] == "demo:step"] == [[3 * i, 200 + i % 2] for i in range(6)]
check: len([e for e in json_lines() if e["name"] == "other:end__all"]) == 6 and summary.discarded + summary.skipped == 0

case: memory that has a name, a floating point number, a constant
each: marks marks_o0 marks_clang marks_static marks_nopie
target: $EACH 3
run: blip trace -p $PID --mark demo:memory --json
check: [list(e["args"].values()) for e in json_lines()] == [[42, 0.5, 0xffffffff], [44, 0.5, 0xffffffff], [46, 0.5, 0xffffffff]]

case: a name that a stripped program does not have is told, and the other arguments are there
target: marks_stripped 3
run: blip trace -p $PID --mark demo:memory --json
check: [e["args"].get("arg3") for e in json_lines()] == [0xffffffff] * 3 and "unknown symbol" in out

case: recorded, with values of one's own choice
target: marks 4
run: blip record -p $PID --mark demo:begin --capture 'n = arg1, text = (char *)arg2' --filter 'arg1 > 1 && arg3 < -2' -o t
reads:
check: [(e.n, e.text) for e in events()] == [(3, "zero")]

case: counted
target: marks 10
run: blip count -p $PID --mark demo:step --mark :begin
check: table() == {"demo:step": 10, "demo:begin": 10} and armed.probes == 3

case: counted with a filter, and by another spelling
target: marks 10
run: blip count -p $PID --mark 'demo:step' --filter '$arg2 == 201' --mark other:end-all
check: table()["demo:step"] == 5 or counted()["demo:step if $arg2 == 201"] == 5

case: a module may be named
target: marks 5
run: blip count -p $PID --mark marks:demo:begin
check: table() == {"demo:begin": 5}

case: names that are none, and arguments that are none
target: marks 2
run: blip trace -p $PID --mark demo:begn
error: demo:begn: no mark matches, nearest: demo:begin
run: blip trace -p $PID --mark nobody:*
error: no mark matches
run: blip trace -p $PID --mark nomodule:demo:begin
error: no module matches 'nomodule'
run: blip trace -p $PID --mark demo:begin --capture arg4
usage: the mark has the arguments arg1 to arg3
run: blip trace -p $PID --mark demo:begin --capture arg0
usage: no 'arg0' here, arg1 to arg3
run: blip trace -p $PID --mark other:end__all --capture arg1
usage: the mark has no arguments

case: a program without marks
target: loop_calls 2
run: blip count -p $PID --mark loop_calls:x:y
error: has no static marks

case: what the list says of a file
run: blip list --marks $TARGETS/marks
expect: demo:begin(unsigned long arg1, unsigned long arg2, int arg3)
expect: demo:memory(unsigned long arg1, double arg2, unsigned int arg3)
expect: other:end__all()
expect-stderr: 6 places of 5 marks, 6 can be probed, 0 refused

case: and of a process, with places and semaphores
target: marks 2
run: blip list -p $PID --marks 'demo:*' -v
expect: 1@$$200
expect-match: semaphore at 0x[0-9a-f]+, now 0
expect-stderr: 5 places of 4 marks, 5 can be probed, 0 refused
run: blip list -p $PID --marks demo:costly --json
check: [(e["kind"], e["name"], e["listeners"], e["patch"]) for e in json_lines()] == [("mark", "demo:costly", 0, "jump")]

case: the list and readelf agree
needs: readelf
sh: blip list --marks --json $TARGETS/marks_nopie > marks; readelf -nW $TARGETS/marks_nopie | grep -c Provider: > places; readelf -nW $TARGETS/marks_nopie | sed -n 's/.*Location: \([^,]*\),.*/\1/p' | sort > at
check: len(json_file("marks")) == int(read_file("places"))
check: sorted(e["address"] for e in json_file("marks")) == [int(a, 16) for a in read_file("at").split()]

case: marks of libstdc++
target: throws 3
run: blip trace -p $PID --mark libstdcxx:throw --json
check: len(json_lines()) > 0 and all(len(e["args"]) >= 2 for e in json_lines())
