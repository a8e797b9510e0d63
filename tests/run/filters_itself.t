# SPDX-License-Identifier: MIT
# A program that puts itself under a seccomp filter while pads read its memory through the kernel: they stop before.
timeout: 60
state: text fds left

case: all threads at once
target: filters_itself all
run: blip record -p $PID --function work --capture 's, i' -o t
reads:
exact:
check: {e.s for e in events() if e.faults == 0} == {"only the kernel knows"} and {e.faults for e in events()} == {0, 1}

case: one thread, and the child that it forks
target: filters_itself prctl
run: blip record -p $PID --function work --capture 's, i' -o t
reads:
exact:
check: {e.s for e in events() if e.faults == 0} == {"only the kernel knows"} and {e.faults for e in events()} == {0, 1}

case: a child that nobody announced is asked nothing, and nothing is asked for its condition
target: filters_itself raw
run: blip record -p $PID --function work --filter 's == "only the kernel knows"' -o t
reads:

case: a child that nobody announced, and its stacks
target: filters_itself raw
run: blip record -p $PID --function work --context backtrace -o t
reads:
exact:

case: a child that nobody announced filters itself, and no program asks the kernel
target: filters_itself child
run: blip record -p $PID --function work -o t
reads:
exact:

case: events with the thread that the kernel names
target: filters_itself_static all
run: blip trace -p $PID --function work --capture s --json
exact:

case: a static program
target: filters_itself_static all
run: blip record -v -p $PID --function work --capture 's, i' -o t
reads:
exact:
expect-stderr: memory is read by process_vm_readv: filters_itself_static makes system calls of its own
check: {e.s for e in events() if e.faults == 0} == {"only the kernel knows"} and {e.faults for e in events()} == {0, 1}

case: stacks of a static program, whose words only the kernel can read
target: filters_itself_static all
run: blip record -p $PID --function work --context backtrace -o t
reads:
exact:

case: a program under a filter already, as root
as: root
target: sandboxed kill
run: blip record -v -p $PID --function work --capture 's, i' -o t
exact:
expect-stderr: memory is read on the stack's own page only: the program runs under a seccomp filter
check: {e.faults for e in events()} == {1}

case: without root no system call is made for blip either, and its memory stays
as: user
state: text fds
target: filters_itself all
run: blip record -p $PID --function work --capture 's, i' -o t
reads:
exact:
expect-stderr: filters its system calls (seccomp)
