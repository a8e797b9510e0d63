# SPDX-License-Identifier: MIT
# Inlined copies of functions: all are found, hit once for each call, with the arguments of that call. The target counts.
as: both
target: inlined 5

case: counts of a function that is only inlined
each: inlined inlined_o0 inlined_d4 inlined_lto
target: $EACH 5
run: blip count -p $PID --function tiny
check: counted() == {"tiny (inlined in in_loop)": 5, "tiny (inlined in twice)": 2} and tiny == 7

case: counts by clang, which puts padding in front
needs: clang-14
target: inlined_clang 5
run: blip count -p $PID --function tiny --function changed
check: counted() == {"tiny (inlined in in_loop)": 5, "tiny (inlined in twice)": 2, "changed (inlined in calls_changed)": 5} and tiny == 7

case: copies, and the function itself
each: inlined inlined_o0 inlined_d4 inlined_lto
target: $EACH 5
run: blip count -p $PID --function both
check: counted() == {"both": 1, "both (inlined in calls_both)": 1, "both (inlined in calls_deep)": 1} and both == 3

case: no copies
run: blip count -p $PID --function both --no-inline
check: counted() == {"both": 1}

case: what is only inlined is no function
run: blip count -p $PID --function tiny --no-inline
error: no function matches 'tiny'

case: a pattern means functions
run: blip count -p $PID --function 'both*'
check: counted() == {"both": 1}

case: arguments of copies
each: inlined inlined_o0 inlined_d4 inlined_lto
target: $EACH 5
run: blip record -p $PID --function tiny --args --capture 'size = item->size' -o t
reads:
check: [(e.n, e.size) for e in events() if "in_loop" in e.name] == [(i, 7) for i in range(5)]
check: [(e.n, e.size) for e in events() if "twice" in e.name] == [(5, 7), (105, 7)]

case: a parameter that changes at once
each: inlined inlined_d4 inlined_lto
target: $EACH 5
run: blip record -p $PID --function changed --args -o t
reads:
check: [e.n for e in events()] == list(range(5)) and len(events()) == changed

case: a copy in a copy, with a filter
run: blip record -p $PID --function both --args --filter 'n >= 40' -o t
reads:
check: sorted((e.n, e.name) for e in events()) == [(40, "both"), (60, "both (inlined in calls_deep)")]

case: a filter that a copy cannot carry is no refusal of the function
prepare: printf '__attribute__((noinline)) static int opaque(int x) { asm volatile("" : "+r"(x)); return x; }\nstatic volatile int sink;\nint both(int n, int extra) { sink = opaque(n); if (extra > 1000) sink = 1; return n * 3; }\n__attribute__((noinline)) int calls_both(int n) { return both(n, opaque(0) ? 7 : 8); }\n' > copied.c &&
  printf '#include "target.h"\nint both(int, int), calls_both(int);\nint main(void) { say("ready"); while (next_round()) { for (int i = 0; i < 10; i++) both(i, i), calls_both(i); say("done"); } return 0; }\n' > main.c &&
  gcc -g -O2 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o copied copied.c main.c
program: $DIR/copied
run: blip count -p $PID --function both --filter 'extra > 3'
check: counted() == {"both": 6} and armed.probes == 1 and armed.refused == 0
expect-stderr: both: 1 inlined copy is not probed: --filter: it is optimized out

case: live
run: blip trace -p $PID --function tiny --capture n --max-events 7
expect-match: tiny \(inlined in in_loop\): \{ n = 4 \}
expect-match: tiny \(inlined in twice\): \{ n = 105 \}

case: in a list
run: blip list -p $PID both
expect-match: \sboth$
expect-match: both \(inlined in calls_both\)$
expect-stderr: 1 functions and 2 inlined copies, 3 can be probed, 0 refused
run: blip list -p $PID both --no-inline
expect-not: (inlined
run: blip list $TARGETS/inlined tiny --json
expect-match: "name":"tiny \(inlined in in_loop\)".*"inlined_in":"in_loop"

case: a library's copies, and the function itself, which is called there too
prepare: cd $DIR && gcc -O2 -g -shared -fPIC -o libhalves.so $TARGETS/../../tests/targets/libhalves.c &&
  gcc -O2 -g -D_GNU_SOURCE -o host $TARGETS/../../tests/targets/loop_calls.c -Wl,--no-as-needed ./libhalves.so -Wl,-rpath,$DIR
program: $DIR/host 5
run: blip list -p $PID half_of
expect-match: libhalves.so\s+half_of$
expect-match: half_of \(inlined in two_halves\)$
expect-stderr: 1 functions and 2 inlined copies, 3 can be probed, 0 refused
until: end
run: blip count -p $PID --function half_of --duration 50ms
expect-stderr: armed 1 probes

case: copies have no return
run: blip count -p $PID --return both -v
check: counted() == {"both:return": 1}
expect-stderr: both: 2 inlined copies have no return, and are not probed
run: blip count -p $PID --return tiny
error: tiny: it is inlined wherever it is called (3 copies), --function tiny

case: as many as gdb counts
needs: gdb
each: inlined inlined_o0 inlined_d4 inlined_lto
target: $EACH 5
sh: echo | gdb -q -nx -batch -ex 'break tiny' -ex 'break both' -ex 'break changed' -ex 'ignore 1 9999' -ex 'ignore 2 9999' -ex 'ignore 3 9999' -ex run -ex 'info breakpoints' $TARGETS/$EACH 2>&1
expect-match: (?s)already hit 7 times.*already hit 3 times.*already hit 5 times
run: blip count -p $PID --function tiny --function both --function changed
check: sum(counted().values()) == 7 + 3 + 5

case: in a separate debug file
prepare: cp $TARGETS/inlined . && objcopy --only-keep-debug inlined inlined.debug && strip inlined && objcopy --add-gnu-debuglink=inlined.debug inlined
program: $DIR/inlined 5
run: blip count -p $PID --function tiny
check: counted() == {"tiny (inlined in in_loop)": 5, "tiny (inlined in twice)": 2}
