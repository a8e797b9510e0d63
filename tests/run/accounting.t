# SPDX-License-Identifier: MIT
# Nothing is lost silently: called = recorded + discarded + skipped, in the summary and in the trace.
as: both
timeout: 60

case: default buffers lose nothing at full speed
target: loop_calls 200000
run: blip record -p $PID --function work -o t
exact:
check: summary.discarded == 0 and summary.skipped == 0

case: tiny buffers discard, exactly
target: loop_calls 300000
run: blip record -p $PID --function work --num-subbuf 2 --subbuf-size 4k -o t
exact:

case: blip stopped for a while, tiny buffers
target: loop_calls 100000
start: blip record -p $PID --function work --num-subbuf 2 --subbuf-size 4k --context reg:rdi -o t
signal: STOP blip
go:
go:
signal: CONT blip
go:
end:
exact: total
check: summary.discarded > 100000
check: len(events("work")) == summary.events

case: blip stopped for a while, four threads, default buffers
target: threads 4 100000
start: blip record -p $PID --function work -o t
signal: STOP blip
go:
signal: CONT blip
end:
exact:

case: four threads on two CPUs, tiny buffers
target: threads 4 50000
run: blip record -p $PID --function work --num-subbuf 2 --subbuf-size 4k -o t
exact:

case: thirty-two threads
target: threads 32 5000
run: blip record -p $PID --function work --context tid -o t
exact:

case: signals in the middle of everything, handlers that nest
target: signal_storm 500
run: blip record -p $PID --function work -o t
exact:
check: summary.discarded == 0

case: signals and tiny buffers
target: signal_storm 500
run: blip record -p $PID --function work --num-subbuf 2 --subbuf-size 4k -o t
exact:

case: signals while counting
target: signal_storm 500
run: blip count -p $PID --function work
check: table()["work"] == calls

case: children of vfork and posix_spawn
target: spawner 40
run: blip record -p $PID --function work --context tid -o t
exact:

case: children of vfork and posix_spawn, counted
target: spawner 40
run: blip count -p $PID --function work
check: table()["work"] == calls

case: deep recursion
target: recursion 20
run: blip record -p $PID --function fib --context reg:rdi -o t
exact:
check: events("fib")[0].rdi == 20

case: C++ exceptions through probed functions
target: throws 3000
run: blip record -p $PID --function shop::* -o t
exact:

case: a static program
target: loop_static 50000
run: blip record -p $PID --function work --context reg:rdi -o t
exact:
check: [e.rdi for e in events()] == list(range(50000))

case: discards are told where they happened
target: loop_calls 100000
start: blip record -p $PID --function work --num-subbuf 2 --subbuf-size 64k --context reg:rdi -o t
go:
signal: STOP blip
go:
signal: CONT blip
go:
end:
exact: total
check: summary.discarded > 50000 and sum(h.count for h in holes()) == summary.discarded
check: not [h for h in holes() if any(h.begin < e.time < h.end for e in events() if e.cpu_id == h.cpu_id)]

case: the size that blip names after a loss is enough for the same load
target: loop_calls 100000
sh: taskset -a -p -c 0 $PID
start: blip record -p $PID --function work --subbuf-size 16k -o small
signal: STOP blip
go:
signal: CONT blip
end: INT
expect-stderr: the buffers were full: --subbuf-size 512k would have been enough
check: summary.discarded > 50000
start: blip record -p $PID --function work --subbuf-size 512k -o t
signal: STOP blip
go:
signal: CONT blip
end:
check: summary.discarded == 0 and summary.events == 100000
check: "enough" not in err

case: buffers that get their memory while the target works
target: threads 4 20000
timeout: 120
run: blip record -p $PID --function work --context reg:rdi --num-subbuf 4 --subbuf-size 16M -o t
exact:

case: a ring that begins at the end of a large sub-buffer goes round
target: threads 2 400000
timeout: 180
run: blip record -p $PID --function work --context reg:rdi --num-subbuf 2 --subbuf-size 8M -o t
exact:
