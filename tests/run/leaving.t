# SPDX-License-Identifier: MIT
# Leaving while somebody is inside a probe: nothing waits, nothing crashes later, what stays is told and taken away later.
as: both
timeout: 60

case: a handler sleeps inside a pad: detach does not wait, a new trace goes beside, clean takes all away
each: plain alt disarm
target: pad_sleeper $EACH
state: text fds
start: blip count -p $PID --function hammered
go: nowait
wait: say inside
end:
expect-stderr: memory of blip stays in process $PID
expect-stderr: blip clean -p $PID
unharmed:
run: blip clean -p $PID
expect-exit: 1
expect-stderr: memory of blip stays
start: blip count -p $PID --function hammered -v
end:
expect-stderr: its memory stays
expect-exit: 0
line: on
wait: say outside
wait: done
run: blip clean -p $PID
expect-exit: 0
expect-stderr: nothing of blip is left
check: untouched(target.pid)

case: the memory goes by itself when the next blip comes
target: pad_sleeper plain
start: blip count -p $PID --function hammered
go: nowait
wait: say inside
end:
line: on
wait: done
until: 5ms
run: blip count -p $PID --function hammered

case: fibers that a timer switches at any instruction
each: heap own shared
target: fibers $EACH
state: text fds
until: 10ms
repeat: 25
run: blip record -p $PID --function hammered --num-subbuf 2 --subbuf-size 64k -o t$CYCLE
go:

case: every instruction of what fibers run
each: heap own shared
target: fibers $EACH
state: text fds
until: 10ms
repeat: 15
run: blip count -p $PID --every-instruction hammered --every-instruction fiber
go:

case: the target sees its code as it was
target: reads_own_text
go:
start: blip count -p $PID --function checked
go:
end:
go:
check: (changed1, changed2, changed3) == (0, 1, 0)

case: nobody reads what blip prints
target: loop_calls 100
run: blip list -p $PID | head -n 1
expect-exit: 0
run: blip list -p $PID >&-
expect-exit: 1
run: blip clean -p $PID >&-
expect-exit: 0
