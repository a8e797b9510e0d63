# SPDX-License-Identifier: MIT
# blip view: the same events as babeltrace2.
as: both

case: shows every event of a trace
target: loop_calls 500
run: blip record -p $PID --function work --context reg:rdi --context tid -o t
run: blip view t
check: len(out.splitlines()) == len(events())
check: [int(re.search(r"rdi\W+(\w+)", line)[1], 0) for line in out.splitlines()] == list(range(500))

case: without a directory it opens the newest
target: loop_calls 5
run: blip record -p $PID --function work
sleep: 1100ms
run: blip record -p $PID --function work --context reg:rdi
go:
run: blip view
check: len(out.splitlines()) == 5
expect: rdi

case: a directory that is no trace
run: blip view /etc
error: /etc

case: a directory that is not there
run: blip view nowhere
error: nowhere

case: stops when its reader does
target: loop_calls 100000
run: blip record -p $PID --function work -o t
sh: set -o pipefail; blip view t | head -1
expect-exit: 0 141
