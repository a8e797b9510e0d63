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

case: a mark that asks whether somebody listens is heard while blip does, and asks in vain afterwards
each: marks marks_o0 marks_clang marks_static marks_nopie marks_stripped
target: $EACH 6
run: blip trace -p $PID --mark demo:costly --json
check: [e["args"]["arg1"] for e in json_lines()] == [i * i for i in range(6)]
check: (listened, listeners) == (6, 1)
go:
check: (listened, listeners) == (0, 0)

case: and so it is at its returns, beside functions and in a trace
target: marks 6
run: blip record -p $PID --mark 'demo:*' --function costly --return costly --context tid -o t
reads:
check: len(events("demo:costly")) == 6 and [e.ret & 0xff for e in events("costly:return")] == [1] * 6
check: (listened, listeners) == (6, 1)
go:
check: (listened, listeners) == (0, 0)

case: of a blip that was killed `clean` takes the word back
target: marks 6
start: blip record -p $PID --mark demo:costly -o t
signal: KILL blip
wait: blip
go:
check: (listened, listeners) == (6, 1)
run: blip clean -p $PID
expect-exit: 0
go:
check: (listened, listeners) == (0, 0)

case: and the next blip does
target: marks 6
start: blip record -p $PID --mark demo:costly -o t
signal: KILL blip
wait: blip
run: blip trace -p $PID --mark demo:costly --json
check: len(json_lines()) == 6 and (listened, listeners) == (6, 1)
go:
check: (listened, listeners) == (0, 0)

case: children of forks have a word of their own
target: marks 4 fork
run: blip trace -p $PID --mark demo:costly --json
check: sorted(e["args"]["arg1"] for e in json_lines()) == sorted([0, 1, 4, 9] * 2) and len({e["pid"] for e in json_lines()}) == 2
check: (listeners, child) == (1, 1)
go:
check: (listeners, child) == (0, 0)

case: of a mark that cannot be probed the word stays as it is
as: root
needs: root bpftrace
target: marks 5
helper: bpftrace -q -e 'usdt:$DIR/marks:demo:costly { @hits = count(); } interval:ms:100 { printf("armed\n"); }' -p $PID
wait: helper armed
until: alone
run: blip count -p $PID --mark demo:costly
expect-exit: 1
go:
check: (listened, listeners) == (5, 1)
signal: INT helper
wait: ended helper
check: "@hits: 5" in helper.out()
go:
check: (listened, listeners) == (0, 0)

case: of a library that comes, goes and comes again
timeout: 60
state: text fds threads left
prepare: printf '#include "mark.h"\nSEMAPHORE(lib_semaphore);\nint lib_work(int n) { if (lib_semaphore) MARK("lib", "work", lib_semaphore, "-4@%%0", "r"(n)); return lib_semaphore; }\n' > lib.c &&
  printf '#include <dlfcn.h>\n#include "target.h"\nint main(void) { say("ready"); while (next_round()) { int sum = 0; for (int i = 0; i < 3; i++) { void* h = dlopen("./libmarked.so", RTLD_NOW); require(h != 0, "dlopen"); int (*f)(int) = (int (*)(int))dlsym(h, "lib_work"); for (int n = 0; n < 4; n++) sum += f(n); require(!dlclose(h), "dlclose"); } say("info heard=%%d", sum); say("done"); } return 0; }\n' > host.c &&
  gcc -g -O1 -shared -fPIC -I$TARGETS/../../tests/targets -o libmarked.so lib.c && gcc -g -O1 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o host host.c
program: $DIR/host
run: blip trace -p $PID --mark lib:work --wait-library --json
check: [e["args"]["arg1"] for e in json_lines()] == [0, 1, 2, 3] * 3 and heard == 12
go:
check: heard == 0

case: python's own marks
until: alone
run: blip trace --mark 'python:gc__*' -- python3 -c 'import gc; gc.collect(); gc.collect(1)'
check: len(re.findall(r"python:gc__start", out)) >= 2 and len(re.findall(r"python:gc__start", out)) == len(re.findall(r"python:gc__done", out))
