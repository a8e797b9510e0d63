# SPDX-License-Identifier: MIT
# Reasons for a refusal that no other file of cases has: docs/refusals.md lists them all, tools/check_refusals.py finds
# the test of each.
timeout: 60

case: a restartable sequence of the program's own
target: refused
run: blip count -v -p $PID --function with_rseq --function work
expect-stderr: refused with_rseq: the function contains a restartable sequence of the program's own
check: table() == {"work": 10}

case: a signal handler waits on top of an instruction that would have to move
target: refused inside
state: maps text fds
run: blip count -v -p $PID --function stepped --function work
expect-stderr: refused stepped: a thread or a signal handler is inside the bytes to be replaced

case: no symbols and no unwind tables
target: loop_odd_libs 10
sh: exec blip count -p $PID --probe libbare.so+0x$$(objdump -h $TARGETS/libbare.so | awk '$$2 == ".text" { print $$4 }')
error: in no known function of libbare.so: it has neither symbols nor unwind tables

case: a Go function whose stack check is entered in its middle
needs: go
run: blip list -q --json $TARGETS/go_http
expect: its stack check leaves no room for a jump

case: traps in Go
needs: go
target: go_calls 10
state: maps text left loose
run: blip count --backend trap -p $PID --function main.work
error: traps cannot be used in Go programs, whose runtime owns the signals

case: traps under a seccomp filter
target: sandboxed errno
run: blip count -v --backend trap -p $PID --function work
expect-exit: 1
expect-stderr: refused work: traps cannot be used under a seccomp filter, which may not let their handler return

case: traps in a static program
target: loop_static 10
run: blip count --backend trap -p $PID --function work
error: no traps where a C library is linked in statically

case: traps where signal actions cannot be watched
target: loop_odd_libs 10
run: blip count -v --backend trap -p $PID --function work
expect-exit: 1
expect-stderr: refused work: traps cannot be used: the program sets signal actions in a way that blip cannot watch
