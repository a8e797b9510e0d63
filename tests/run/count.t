# SPDX-License-Identifier: MIT
# blip count: hits per probe, exact.
as: both

case: counts calls of a function in a running process
target: loop_calls 1000
run: blip count -p $PID --function work
expect: work 1000
also: target exits 0

case: counts every function of a glob and nothing else
target: lib_calls 100
with: libcalls.so.1
run: blip count -p $PID --function parse_*
expect: parse_one 100
expect: parse_two 200
expect-not: other
check: armed.probes == 2

case: a function that was not called is in the table with zero
target: loop_calls 10
until: 50ms
run: blip count -p $PID --function work
expect: work 0

case: counts recursion
target: recursion 15
run: blip count -p $PID --function fib
check: table()["fib"] == calls

case: counts in several threads
target: threads 8 20000
run: blip count -p $PID --function work
check: table()["work"] == calls

case: writes no trace
target: loop_calls 10
run: blip count -p $PID --function work
sh: ls -d blip-* $DIR/*/metadata
expect-exit: 2
