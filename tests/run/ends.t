# SPDX-License-Identifier: MIT
# How a session ends: blip's signals, blip's death, the target's death.
as: both

case: SIGINT is a normal end
target: loop_calls 100
until: INT
run: blip record -p $PID --function work -o t
expect-exit: 0
reads:
exact:

case: SIGTERM is a normal end
target: loop_calls 100
until: TERM
run: blip record -p $PID --function work -o t
expect-exit: 0
reads:
exact:

case: SIGHUP is a normal end
target: loop_calls 100
until: HUP
run: blip record -p $PID --function work -o t
expect-exit: 0
reads:
exact:

case: a second SIGINT does not cut the clean-up short
target: many
start: blip record -p $PID --function many_0* -o t
go:
signal: INT blip
signal: INT blip
signal: TERM blip
end: INT
reads:
check: summary.events == armed.probes

case: SIGINT while attaching
target: many
launch: blip record -p $PID --function many_* -o t
sh: until test -d t; do sleep 0.002; done
end: INT
expect-exit: 0

case: SIGKILL of blip; the target goes on, the next blip cleans up and traces
target: loop_calls 100
start: blip record -p $PID --function work -o t1
go:
signal: KILL blip
wait: blip
go:
go:
run: blip record -p $PID --function work --context reg:rdi -o t2
reads: t2
exact:
check: [e.rdi for e in events("work")] == list(range(100))

case: what a killed blip wrote is readable
target: loop_calls 100000
start: blip record -p $PID --function work -o t
go:
sleep: 300ms
signal: KILL blip
wait: blip
reads: t
run: blip count -p $PID --function work
expect: work 100000

case: SIGKILL of blip with 5000 probes under load, then count
target: many
start: blip record -p $PID --function many_* -o t1
go:
signal: KILL blip
wait: blip
go:
run: blip count -p $PID --function many_00007
expect: many_00007 1

case: SIGKILL of blip three times in a row
target: hammer 2
start: blip record -p $PID --function tiny_* -o t1
sleep: 100ms
signal: KILL blip
wait: blip
start: blip record -p $PID --function tiny_* -o t2
sleep: 100ms
signal: KILL blip
wait: blip
start: blip count -p $PID --function tiny_*
sleep: 100ms
signal: KILL blip
wait: blip
until: 50ms
run: blip count -p $PID --function tiny_*

case: a second blip while the first runs is refused
target: loop_calls 10
start: blip record -p $PID --function work -o t1
sh: blip record -p $PID --function work -o t2 --duration 200ms
error: $PID, $BLIP_PID
go:
end:
exact:

case: the target exits
target: ends exit 1000
until: end
run: blip record -p $PID --function work --context reg:rdi -o t
expect-exit: 0
reads:
exact:
check: [e.rdi for e in events("work")] == list(range(1000))
also: target exits 3

case: the target ends by _exit
target: ends _exit 1000
until: end
run: blip record -p $PID --function work --context reg:rdi -o t
reads:
exact:
also: target exits 3

case: the target aborts
target: ends abort 1000
until: end
run: blip record -p $PID --function work --context reg:rdi -o t
reads:
exact:
check: events("work")[-1].rdi == 999
also: target killed by ABRT

case: the target crashes
target: ends segv 1000
until: end
run: blip record -p $PID --function work --context reg:rdi -o t
reads:
exact:
also: target killed by SEGV

case: the target is killed; the trace is readable to the last event
target: ends kill 1000
until: end
run: blip record -p $PID --function work --context reg:rdi -o t
reads:
exact:
check: [e.rdi for e in events("work")] == list(range(1000))
also: target killed by KILL

case: another thread ends the process while events flow
target: ends thread 1000
until: end
run: blip record -p $PID --function work --context reg:rdi -o t
reads:
check: [e.rdi for e in events("work")] == list(range(len(events())))
check: summary.events + summary.discarded >= 1000
also: target exits 3

case: the target is killed from outside while it works
target: hammer 2
start: blip record -p $PID --function tiny_lea --num-subbuf 2 --subbuf-size 16k -o t
sleep: 100ms
signal: KILL target
wait: blip
end:
reads:
check: len(events()) > 100
also: target killed by KILL

case: the target ends while blip counts
target: ends exit 1000
until: end
run: blip count -p $PID --function work
expect: work 1000
also: target exits 3

case: the target executes another program
target: exec_self 1000
state: text left
start: blip record -p $PID --function work --context reg:rdi -o t
go: nowait
wait: say again
end:
reads:
exact:
check: [e.rdi for e in events("work")] == list(range(1000))
go:

case: the target executes another program and blip ends by itself
target: exec_self 1000
state: text left
until: end
run: blip record -p $PID --function work -o t
reads:
exact:
go:

case: a stopped target stays stopped
target: loop_calls 100
signal: STOP target
wait: stopped
start: blip record -p $PID --function work -o t
wait: stopped
end:
wait: stopped
unharmed:
signal: CONT target

case: a target stopped before the attach is traced when it goes on
target: loop_calls 100
signal: STOP target
wait: stopped
start: blip record -p $PID --function work -o t
wait: stopped
signal: CONT target
go:
end:
reads:
exact:

case: a target stopped while traced stays stopped at the end
target: loop_calls 100
start: blip record -p $PID --function work -o t
go:
signal: STOP target
wait: stopped
end:
wait: stopped
also: target is stopped
reads:
exact:
unharmed:
signal: CONT target
