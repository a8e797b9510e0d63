# SPDX-License-Identifier: MIT
# blip clean: what a killed blip left goes, and what its rings held can be saved.
as: both

case: a process that no blip has touched
target: loop_calls 100
run: blip clean -p $PID
expect-exit: 0
expect-stderr: nothing of blip is in it

case: after a killed blip, the process is as it was
target: loop_calls 100
start: blip record -p $PID --function work -o t
go:
signal: KILL blip
wait: blip
go:
run: blip clean -p $PID
expect-exit: 0
expect-stderr: restored, nothing of blip is left
unharmed:
go:
run: blip clean -p $PID
expect-stderr: nothing of blip is in it

case: a thousand probes of a killed blip, under load
target: many
start: blip count -p $PID --function many_00*
signal: KILL blip
wait: blip
run: blip clean -p $PID
expect-stderr: restored, nothing of blip is left

case: quiet
target: loop_calls 100
start: blip record -p $PID --function work -o t
signal: KILL blip
wait: blip
run: blip clean -q -p $PID
check: err == "" and out == ""

case: the blip that traces is named, and goes on
target: loop_calls 100
start: blip record -p $PID --function work -o t
sh: blip clean -p $PID
expect-exit: 1
expect-stderr: already traced by blip (pid $BLIP_PID)
go:
end:
exact:

case: children of a killed blip's target are cleaned too
target: fork_lives
start: blip count -p $PID --function work
go:
signal: KILL blip
wait: blip
run: blip clean -p $PID
expect-exit: 0
check: err.count("restored, nothing of blip is left") >= 1

case: no such process
run: blip clean -p 4194304
error: no such process

case: with nothing to clean named
run: blip clean
usage: -p PID, --all

case: --all and -p
run: blip clean -p 1 --all
usage: exclude each other

case: what the rings held is saved, each event once
target: loop_calls 3000
start: blip record -p $PID --function work --context reg:rdi -o t
go:
signal: KILL blip
wait: blip
go:
run: blip clean -p $PID --save rest
reads: rest
check: summary.discarded == 0 and summary.skipped == 0
check: summary.events + count_events("t") == 6000
unharmed:

case: what is saved has its names too, and so has what was written before
target: steps 20
start: blip record -p $PID --every-instruction straight -o t
go:
signal: KILL blip
wait: blip
go:
run: blip clean -p $PID --save rest
reads: rest
sh: blip view rest > text; grep -c ' straight+0xb: ' text; babeltrace2 rest | grep -c bin_info.*/steps; babeltrace2 t | grep -c bin_info.*/steps
check: out.split() == ["40", "1", "1"]

case: killed and saved while it works, again and again
target: threads 3 20000
timeout: 120
start: blip record -p $PID --function work --num-subbuf 4 --subbuf-size 64k -o t
go: nowait
sleep: 30ms
signal: KILL blip
wait: blip
wait: done
run: blip clean -p $PID --save rest
reads: rest
check: summary.events + summary.discarded + summary.skipped + count_events("t") == calls

case: killed while the buffers still get their memory
target: threads 2 2000
timeout: 120
start: blip record -p $PID --function work --subbuf-size 64M -o t
go: nowait
signal: KILL blip
wait: blip
wait: done
run: blip clean -p $PID --save rest
reads: rest
check: summary.events + summary.discarded + summary.skipped + count_events("t") == calls

case: nothing to save of a blip that counted
target: loop_calls 100
start: blip count -p $PID --function work
signal: KILL blip
wait: blip
run: blip clean -p $PID --save rest
expect-exit: 0
expect-stderr: no events to save

case: a trace cannot be saved over another
target: loop_calls 100
start: blip record -p $PID --function work -o t
go:
signal: KILL blip
wait: blip
run: blip clean -p $PID --save t
expect-exit: 1
unharmed:

case: somebody else's process
as: user
needs: root
target: loop_calls 100
target-as: root
run: blip clean -p $PID
error: uid 0

case: --all finds every process, and nothing else is touched
as: root
needs: root unshare
timeout: 60
sh: timeout -s KILL 40 unshare -pf --kill-child=KILL --mount-proc bash -c '
  cp $TARGETS/loop_calls a; cp a b; mkfifo in; sleep 60 < in & exec 9>in;
  for t in a b; do ./$$t 10 < in > $$t.out & echo $$! > $$t.pid; until grep -q ready $$t.out; do sleep 0.01; done; done;
  blip count -p $$(cat a.pid) -p $$(cat b.pid) --function work 2> count.err & blip=$$!;
  until grep -q armed count.err; do sleep 0.01; done;
  blip clean --all 2> traced.err; echo traced=$$?; grep -c "already traced by blip" traced.err;
  kill -9 $$blip; wait $$blip; blip clean --all 2>&1; echo code=$$?; blip clean --all 2>&1; echo again=$$?; kill %1'
expect: traced=0
expect: code=0
expect: nothing of blip is left
expect: no process holds anything of blip
expect: again=0
