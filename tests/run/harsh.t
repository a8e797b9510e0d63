# SPDX-License-Identifier: MIT
# Targets that make it hard: sandboxes, limits, own signal handlers; and outputs that fail.
as: both

case: a sandboxed target that would be killed by a strange system call lives on
target: sandboxed kill
run: blip count -p $PID --function work
expect-exit: 0 1
go:

case: a sandboxed target whose strange system calls fail lives on
target: sandboxed errno
run: blip count -p $PID --function work
expect-exit: 0 1
go:

case: a sandboxed target is recorded or refused, and not killed
target: sandboxed kill
run: blip record -p $PID --function work --context tid --context comm -o t
expect-exit: 0 1
go:

case: no memory both writable and executable
target: mdwe
run: blip record -p $PID --function work -o t
reads:
exact:

case: a target without a free file descriptor is traced or refused, and unharmed
target: mdwe fds
run: blip record -p $PID --function work -o t
expect-exit: 0 1
go:

case: a target with its own traps, all other signals blocked
target: own_traps
run: blip record -p $PID --function mix --context reg:rdi -o t
reads:
exact:

case: an instruction that may fault is left in place where the program handles faults
target: own_traps
run: blip count -p $PID --probe work
expect-exit: 1
expect-stderr: may fault

case: ten sessions on a target with its own traps
target: own_traps
until: done
repeat: 10
run: blip count -p $PID --function mix
expect: mix 100

case: a full disk is reported, the target unharmed, the finished part readable
target: loop_calls 200000
start: blip record -p $PID --function work -o t
sh: prlimit --pid $BLIP_PID --fsize=200000
go:
end:
expect-exit: 1
expect-stderr: File too large
reads: t

case: the output directory vanishes
target: loop_calls 100000
start: blip record -p $PID --function work -o t
sh: rm -r t
go:
end:
expect-exit: 0 1

case: blip with little memory for itself fails cleanly or works
target: loop_calls 1000
run: prlimit --as=300000000 blip count -p $PID --function work
expect-exit: 0 1
go:

case: gdb attaches while probes are live and sees the target's stack
needs: gdb
target: loop_calls 100
start: blip record -p $PID --function work -o t
sh: gdb -q -nx -batch -p $PID -ex bt -ex detach 2>/dev/null
expect: next_round
go:
end:
reads:
exact:

case: strace follows the target while probes are live
needs: strace
target: loop_calls 100
state: maps text fds left
start: blip record -p $PID --function work -o t
helper: strace -qq -o /dev/null -p $PID
wait: traced
go:
signal: INT helper
wait: ended helper
end:
reads:
exact:

case: a library asks for clone3 with no arguments
target: clone3_test
run: blip record -p $PID --function try_clone3 -o t
exact:

case: leaving while a handler on another stack sleeps on top of a handler on top of a probe
target: handler_on_handler
state: text fds
start: blip record -p $PID --function hammered -o t --duration 1s
go:
end:

case: leaving while a handler that has taken itself away sleeps on top of a probe
target: odd_handler reset
state: text fds
start: blip record -p $PID --function hammered -o t --duration 1s
go:
end:

case: leaving while a handler with its own way back sleeps on top of a probe
target: odd_handler short
state: text fds
start: blip record -p $PID --function hammered -o t --duration 1s
go:
end:
