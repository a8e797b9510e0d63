# SPDX-License-Identifier: MIT
# blip --return: one event per exit, with the function's own result.
as: both

case: the value, the latency and the depth of every call
target: recursion 12
run: blip record -p $PID --return fib -o t
exact:
check: {e.name for e in events()} == {"fib:return"} and events()[-1].ret == fib and events()[-1].depth == 0
check: max(e.depth for e in events()) == 11 and all(e.tail == 0 for e in events())
check: all(a.latency_ns >= b.latency_ns for a, b in zip(events()[1:], events()) if a.depth == b.depth - 1)
check: events()[-1].latency_ns == max(e.latency_ns for e in events())

case: trace prints the fields
target: recursion 1
run: blip trace -p $PID --return fib
expect-match: fib:return: \{ ret = 0x1, latency_ns = \d+, depth = 0, tail = 0 \}

case: count counts returns
target: recursion 15
run: blip count -p $PID --return fib
check: table()["fib:return"] == calls

case: a returned function is one probe
target: throws 10
run: blip count -p $PID --return shop::*
check: armed.probes == 3 and armed.refused == 0

case: entries and returns of one function
target: recursion 10
run: blip record -p $PID --function fib --context reg:rdi --return fib -o t
check: len(events("fib")) == calls == len(events("fib:return")) and summary.events == 2 * calls
check: events("fib")[0].rdi == 10 and armed.probes == 2

case: contexts belong to returns too
target: recursion 5
run: blip record -p $PID --return fib --context tid --context reg:rax --context ip -o t
exact:
check: all(e.vtid == PID and e.rax == e.ret and e.ip > 4096 for e in events())

case: many threads
target: threads 8 5000
run: blip record -p $PID --return work --subbuf-size 4M -o t
exact:
check: all(e.depth == 0 for e in events())

case: attached in the middle of a call, which is none then
target: loop_calls 100
run: blip count -p $PID --return main --return work
check: table() == {"work:return": 100, "main:return": 0}

case: ten sessions
target: recursion 10
repeat: 10
run: blip count -p $PID --return fib
check: table()["fib:return"] == calls

case: with the kernel's clock
target: recursion 8
run: blip record -p $PID --clock monotonic --return fib -o t
exact:
check: events()[-1].ret == fib and max(e.depth for e in events()) == 7
check: events()[-1].latency_ns == max(e.latency_ns for e in events())

case: musl
needs: musl-gcc
target: loop_musl 300
run: blip record -p $PID --return work -o t
exact:
check: all(e.depth == 0 for e in events())

case: with traps
target: recursion 8
run: blip record -p $PID --backend trap --return fib -o t
exact:
check: events()[-1].ret == fib

case: the room for open calls is gone with the rest
target: recursion 8
run: blip record -p $PID --return fib -o t
unharmed:

# ---- bad input ----

case: a function that never returns
target: loop_calls 10
run: blip count -p $PID --return _start
error: _start:return, never returns

case: an assembly function with an unusual exit is refused, the others are armed
target: call_kinds longjmp 9
run: blip count -v -p $PID --return leap --return libc.so.6:swapcontext --return libc.so.6:vfork
expect-stderr: refused swapcontext:return: not all of its exits are known
expect-stderr: refused vfork:return: not all of its exits are known
expect: leap:return 6

case: a stub of the PLT is not a function
target: loop_calls 10
run: blip count -p $PID --return write@plt
error: write@plt

case: an offset is not a function
target: loop_calls 10
run: blip count -p $PID --return work+4
usage: --return, takes functions

case: uprobes cannot pair
as: root
target: loop_calls 10
run: blip count -p $PID --backend uprobe --return work
error: --backend uprobe

case: Go moves its stacks
needs: go
until: alone
run: blip count --return main.* -- $TARGETS/go_calls 10
error: Go moves the stacks
