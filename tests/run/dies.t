# SPDX-License-Identifier: MIT
# The target dies of its stack, or dumps core; blip gets signals that others die of.
as: both
timeout: 60

case: the target's stack overflows in a probed function
target: ends overflow 1000
until: end
run: blip record -p $PID --function work --function deeper --context reg:rdi -o t
reads:
check: len(events("work")) == 1000 and len(events("deeper")) > 100
also: target killed by SEGV

case: a core of a traced process opens in gdb, larger by no more than the buffers
needs: gdb
target: loop_calls 100
start: blip record -p $PID --function work --num-subbuf 2 --subbuf-size 4k -o t
sh: gdb -q -nx -batch -p $PID -ex 'generate-core-file core' -ex detach >/dev/null 2>&1; gdb -q -nx -batch loop_calls core -ex bt 2>/dev/null; stat -c 'size=%s' core
expect: next_round
check: int(re.search(r"size=(\d+)", out)[1]) < 12000000
go:
end:
exact:

case: SIGQUIT and SIGPIPE
target: loop_calls 100
until: QUIT
run: blip record -p $PID --function work -o t
exact:
start: blip count -p $PID --function work
signal: PIPE blip
go:
end:
expect: work 100
