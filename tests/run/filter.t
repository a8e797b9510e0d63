# SPDX-License-Identifier: MIT
# blip --return F --filter EXPR: only what EXPR is true for; the others cost no event and no count.
as: both

case: the outermost calls
target: recursion 12
run: blip record -p $PID --return fib --filter 'depth == 0' -o t
reads:
check: [(e.depth, e.ret) for e in events()] == [(0, fib)]

case: by the result
target: recursion 12
run: blip record -p $PID --return fib --filter 'ret > 20 && ret < 100' -o t
reads:
check: {e.ret for e in events()} == {21, 34, 55, 89} and len(events()) > 4

case: a filter and its opposite share all calls between them
target: recursion 14
run: blip record -p $PID --return fib --filter 'depth > 5 || ret == 1' -o t
reads:
check: all(e.depth > 5 or e.ret == 1 for e in events()) and 0 < len(events()) < calls
sh: ls t/metadata && babeltrace2 t | grep -c fib:return > first
run: blip count -p $PID --return fib --filter '!(depth > 5 || ret == 1)'
check: table()["fib:return"] == calls - int(read_file("first"))

case: a function that several of them mean has a probe for each
target: recursion 12
run: blip count -p $PID --return fib --filter 'depth == 0' --return 'fi*'
expect-match: fib:return +465\nfib:return if depth == 0 +1\n
check: armed.probes == 2

case: by the latency, which the event tells too
target: recursion 16
run: blip record -p $PID --return fib --filter 'latency_ns > 2000' -o t
reads:
check: 0 < len(events()) < calls and all(e.latency_ns >= 2000 for e in events())

case: nothing is that slow
target: recursion 10
run: blip count -p $PID --return fib --filter 'latency_ns > 600000000000'
check: table()["fib:return"] == 0

case: before the first probe it is for all returns
target: recursion 10
run: blip record -p $PID --filter 'depth == 0' --return fib --function fib -o t
check: len(events("fib:return")) == 1 and len(events("fib")) == calls

case: an expression that is none
target: recursion 1
run: blip count -p $PID --return fib --filter 'duration > 5'
usage: there is no variable 'duration' here: visible are $return, ret, latency_ns, depth, tail
underlines: duration

case: nothing to filter by
target: recursion 1
run: blip count -p $PID --function fib --filter 'ret == 1'
usage: 'ret' is known only where a function returns: with --return
underlines: ret

case: latencies need the cycle counter
target: recursion 1
run: blip record -p $PID --clock monotonic --return fib --filter 'latency_ns > 5' -o t
expect-exit: 1 2
expect-stderr: latency_ns needs the CPU's cycle counter
