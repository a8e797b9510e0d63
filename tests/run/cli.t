# SPDX-License-Identifier: MIT
# Help, version, and what goes where.

case: --help teaches by example
run: blip --help
expect: blip record
expect: blip trace
expect: blip count
expect: blip view
expect: -p
check: err == ""

case: help of a command
run: blip record --help
expect: --function
expect: --context
expect: --duration
expect: -o

case: --version
run: blip --version
expect-match: ^blip \d+\.\d+

case: without arguments, a hint and exit 2
run: blip
expect-exit: 2

case: the pid options are synonyms
target: loop_calls 5
run: blip count --pid $PID --function work
expect: work 5
run: blip count -x $PID --function work
expect: work 5

case: program output to stdout, the rest to stderr
target: loop_calls 5
run: blip count -p $PID --function work
expect-not: zork
check: "blip:" not in out
check: all(line.startswith("blip: ") for line in err.splitlines())

case: the armed line has its numbers
target: loop_calls 5
run: blip count -p $PID --function work
check: armed.probes == 1 and 0 < armed.paused_ms <= armed.total_ms

case: stdin closed and output to /dev/full
target: loop_calls 5
sh: blip trace -p $PID --function work --duration 300ms > /dev/full
expect-exit: 0
