# SPDX-License-Identifier: MIT
# Several processes in one trace: named one by one, found by name, awaited, and made by fork.
as: both
timeout: 60

case: every process of a name, each under its own pid
target: workers 3
run: blip record -n workers --function work -o t
reads:
exact:
check: armed.probes == 4
check: sorted(e.vpid for e in events()) == sorted([PID, worker0, worker1, worker2] * 10)
check: all(untouched(pid) for pid in (PID, worker0, worker1, worker2))

case: a name can be a command name
target: workers 3
run: blip record -n worker1 --function work --context tid,comm -o t
reads:
check: armed.probes == 1
check: {(e.vpid, e.vtid, e.procname) for e in events()} == {(worker1, worker1, "worker1")} and len(events()) == 10

case: two processes by pid, printed in the order of time
target: workers 2
run: blip trace -p $PID -p $worker1 --function work --json
check: [e["pid"] for e in json_lines()] == [PID] * 10 + [worker1] * 10
check: [e["time"] for e in json_lines()] == sorted(e["time"] for e in json_lines())

case: two processes, counted together
target: workers 2
run: blip count -p $PID -p $worker1 --function work
check: table()["work"] == 20

case: one of several processes cannot be traced: none is
target: workers 1
run: blip record -p $PID -p 999999 --function work -o t
error: no such process: 999999
check: untouched(PID) and untouched(worker0)

case: three processes by pid
target: workers 2
run: blip record -p $PID -p $worker0 -p $worker1 --function work -o t
reads:
exact:

case: one of several ends, the others are traced on
target: workers 1
start: blip record -v -p $PID -p $worker0 --function work -o t
go:
sh: kill -9 $worker0
wait: print-err process $worker0 has gone
end:
expect-stderr: end: stopped
reads:
exact:
also: target exits 92

case: no process of that name
run: blip record -n no_such_name --function work -o t
error: no process of yours is named no_such_name: --wait waits for one

case: the time that it waits for a process is not part of the time it takes to arm
target: workers 1
launch: blip count -n late_comer --wait --function work --duration 60s
wait: print-err waiting for a process named late_comer
sh: cp $TARGETS/loop_calls late_comer; sleep 4; (sleep 1.5; echo; sleep 0.5) | ./late_comer 4
end:
check: 0 < armed.total_ms < 4000

case: a process that is awaited
target: workers 1
launch: blip record -n forker --wait --function work --duration 20s -o t
wait: print-err waiting for a process named forker
sh: cp $TARGETS/forker . && (sleep 0.5; echo; sleep 0.5) | ./forker 4
wait: print-err process
end:
reads:
check: summary.events > 0 and summary.discarded == 0 and summary.skipped == 0

case: children of fork are recorded under their own pids
target: forker 40
run: blip record -p $PID --function work --context tid,comm -o t
reads:
exact:
check: summary.skipped == 0
check: len({e.vpid for e in events()}) == 41
check: all(e.vtid == e.vpid and e.procname == "forker" for e in events())

case: children that run at once are told apart in the rings they share
target: fork_race 8
run: blip record -p $PID --function work --context reg:rdi -o t
reads:
exact:
check: summary.skipped == 0 and len({e.vpid for e in events()}) == 9
check: [e for e in events() if e.vpid != e.rdi] == []

case: children that run at once, small buffers
target: fork_race 8
run: blip record -p $PID --function work --context reg:rdi --num-subbuf 2 --subbuf-size 4k -o t
reads:
exact:
check: [e for e in events() if e.vpid != e.rdi] == []

case: the pid is there without following too
target: forker 4
run: blip record -p $PID --function work --no-follow-fork --context pid -o t
reads:
check: {e.vpid for e in events()} == {PID}

case: children of fork, counted
target: forker 40
run: blip count -p $PID --function work
check: table()["work"] == calls and summary.skipped == 0

case: children are left alone if the user wants it
target: forker 40
run: blip record -p $PID --function work --no-follow-fork -o t
reads:
check: summary.events * 2 == calls and summary.skipped == 0 and summary.discarded == 0

case: children are left alone, counted
target: forker 40
run: blip count -p $PID --function work --no-follow-fork
check: table()["work"] * 2 == calls and summary.skipped == 0

case: a child that outlives the session is restored too
target: fork_lives
run: blip record -p $PID --function work -o t
reads:
exact:
check: untouched(PID) and untouched(child)
go:
check: {e.vpid for e in events()} == {PID, child}

case: a child that hides from its own user is named, and works on with its probes
as: user
target: fork_hides
run: blip record -p $PID --function work -o t
expect-exit: 1
expect-stderr: process $child, forked by $PID, could not be restored
expect-stderr: blip clean -p $child
reads:
check: summary.events == 20 and summary.discarded == 0 and summary.skipped == 0
check: {e.vpid for e in events()} == {PID, child} and untouched(PID)
go:
run: blip record -p $PID --function work -o t2
check: summary.events == 10

case: a child that hides cannot hide from root
as: root
target: fork_hides
run: blip record -p $PID --function work -o t
exact:
check: untouched(PID) and untouched(child)
go:

case: root takes the probes out of a child that hid from its user
as: root
target-as: user
target: fork_hides
run: setpriv --reuid 65534 --regid 65534 --clear-groups blip count -p $PID --function work
expect-exit: 1
check: table()["work"] == 20 and not untouched(child)
go:
sh: blip count -p $child --function work --duration 10ms
check: untouched(child)
go:

case: the process ends, its hidden child is traced on
as: user
target: orphan hide
start: blip record -p $PID --function work -o t
go: nowait
wait: say round=1
line:
wait: say round=2
end:
expect-exit: 1
expect-stderr: process $child, forked by $PID, could not be restored
reads:
check: summary.events == 20 and {e.vpid for e in events()} == {child}
line:
wait: say round=3

case: the process ends, its hidden child too: so does the trace
as: user
target: orphan hide
start: blip record -p $PID --function work -o t
go: nowait
wait: say round=1
sh: kill $child
wait: blip
end: alone
reads:
check: summary.events == 10

case: an ignored child that outlives the session is restored too
target: fork_lives
run: blip record -p $PID --function work --no-follow-fork -o t
check: summary.events == 10 and untouched(PID) and untouched(child)
go:

case: the process ends, its child is traced on and restored
target: orphan
start: blip record -p $PID --function work -o t
go: nowait
wait: say round=1
line:
wait: say round=2
end:
reads:
check: summary.events == 20
check: {e.vpid for e in events()} == {child} and untouched(child)
line:
wait: say round=3

case: the process ends, its child too: so does the trace
target: orphan
start: blip record -p $PID --function work -o t
go: nowait
wait: say round=1
sh: kill $child
wait: blip
end: alone
reads:
check: summary.events == 10

case: different programs: a probe that matches in one of them is enough
target: loop_calls 10
sh: $TARGETS/hammer 1 < <(sleep 20) > out & h=$$!; until grep -q ready out; do sleep 0.05; done;
  blip count -p $PID -p $$h --function work --function 'tiny_*' --duration 300ms; code=$$?;
  blip count -p $PID -p $$h --function work --duration 100ms; blip count -p $PID -p $$h --function work --function zzz --duration 100ms && code=9;
  kill $$h; exit $$code
expect-exit: 0
expect-stderr: nothing in it matches, it is not traced
expect-stderr: nothing matches 'zzz' in any of the 2 processes
