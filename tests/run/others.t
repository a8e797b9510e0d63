# SPDX-License-Identifier: MIT
# Others at the same process: debuggers, kernel uprobes, a second blip, sanitizers.
timeout: 60

case: programs with sanitizers are traced, exactly, and at once
each: address thread undefined
as: both
needs: gcc
prepare: gcc -O1 -g -D_GNU_SOURCE -fsanitize=$EACH -o calls_$EACH $LIB/../targets/loop_calls.c; chmod 755 calls_$EACH
program: $DIR/calls_$EACH 1000
state: text fds left
start: blip record -p $PID --function work --context reg:rdi -o t
go:
end:
reads:
exact:
check: armed.paused_ms < 2000
start: blip count -p $PID --function work
end:

case: a kernel uprobe was there first: its place is refused, and the program goes on
as: root
needs: root bpftrace
target: loop_calls 100
state: fds left
helper: bpftrace -q -e 'uprobe:$DIR/loop_calls:work { @hits = count(); } interval:ms:100 { printf("armed\n"); }' -p $PID
wait: helper armed
until: alone
run: blip count -p $PID --function work -v
expect-exit: 1
expect-stderr: a breakpoint stands there
go:
signal: INT helper
wait: ended helper
check: "@hits: 100" in helper.out()
run: blip count -p $PID --function work
expect: work 100

case: gdb's breakpoint on a probed function: both see the calls
as: root
needs: root gdb
target: loop_calls 5
prepare: printf 'break *work\ncommands\nsilent\necho hit\\n\ncontinue\nend\necho set\\n\ncontinue\n' > script
state: text fds left
start: blip count -p $PID --function work
helper: gdb -q -nx -batch -p $PID -x script 2>&1
wait: helper set
go: nowait
wait: done
signal: INT helper
wait: ended helper
check: helper.out().count("hit") == 5
end:
expect: work 5

case: a second blip is told who the first is
as: both
target: loop_calls 100
start: blip record -p $PID --function work -o t
sh: blip count -p $PID --function work
expect-exit: 1
expect-stderr: already traced by blip (pid $BLIP_PID)
go:
end:
exact:

case: perf samples the process before, during and after
as: root
needs: root perf
target: loop_calls 50000000
state: text fds left
helper: perf record -q -e cpu-clock -F 997 -g -p $PID -o perf.data
start: blip count -p $PID --function work
go:
end:
check: table()["work"] == 50000000
start: blip count -p $PID --latency --function work
go:
end:
check: summary.events == 50000000 and summary.discarded == 0
signal: INT helper
wait: ended helper
sh: perf report -i perf.data --no-children --stdio -g none -F sample,symbol
expect: work

case: a kernel uprobe elsewhere meanwhile, and at the same function afterwards
as: root
needs: root bpftrace
target: hot_cold 80
state: fds left
start: blip count -p $PID --function split
helper: bpftrace -q -e 'uprobe:$DIR/hot_cold:cold { @colds = count(); } interval:ms:100 { printf("armed\n"); }' -p $PID
wait: helper armed
go:
end:
expect: split 80
signal: INT helper
wait: ended helper
check: "@colds: 10" in helper.out()
helper: bpftrace -q -e 'uprobe:$DIR/hot_cold:split { @hits = count(); } interval:ms:100 { printf("armed\n"); }' -p $PID
wait: helper armed
go:
signal: INT helper
wait: ended helper
check: "@hits: 80" in helper.out()
