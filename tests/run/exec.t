# SPDX-License-Identifier: MIT
# Programs that come by exec, in traced processes and their children.
as: both
timeout: 60

case: the new program of a process is traced on
target: exec_self 1000
state: text left
start: blip record -p $PID --function work --follow-exec -o t
go: nowait
wait: say again
wait: print-err armed 1 probes
wait: print-err process $PID executed
go:
end:
reads:
check: summary.events == 2000 and summary.discarded == 0 and summary.skipped == 0
check: {e.vpid for e in events()} == {PID}

case: the new program of a process is counted on
target: exec_self 1000
state: text left
start: blip count -p $PID --function work --follow-exec
go: nowait
wait: print-err process $PID executed
go:
end:
check: table()["work"] == 2000

case: programs of children, whichever way they were started, although nothing matches at the start
target: exec_chain $TARGETS/one_round 5
start: blip record -p $PID --function work --function main --lifecycle --follow-exec -o t
go: nowait
wait: say info way0
wait: print-err process $way0 executed
go: nowait
wait: say info way1
wait: print-err process $way1 executed
go: nowait
wait: say info way2
wait: print-err process $way2 executed
go: nowait
end: alone
also: target exits 0
reads:
check: [e.vpid for e in events("work")] == [way0] * 5 + [way1] * 5 + [way2] * 5
check: {way0, way1, way2} <= {e.vpid for e in events("process:exec")}
check: [(e.vpid, e.status) for e in events("process:end")] != [] and {(e.vpid, e.status) for e in events("process:end")} == {(way0, 0), (way1, 0), (way2, 0), (PID, 0)}

case: a SPEC that nothing matches yet
target: one_round 5 $TARGETS/one_round 3
start: blip record -p $PID --function no_such_function --follow-exec -o t
go: nowait
wait: say calls=5
go: nowait
end: alone
expect-stderr: nothing matches yet
also: target exits 0

case: a SPEC that nothing matches is an error without --follow-exec
target: loop_calls 5
run: blip record -p $PID --function no_such_function -o t
error: no function matches

case: a 32-bit program is let go
target: one_round 5 $TARGETS/one_round_32 3
start: blip record -p $PID --function work --follow-exec -o t
go: nowait
wait: print-err is not traced: process $PID: 32-bit programs are not supported
go: nowait
end: alone
also: target exits 0
reads:
check: summary.events == 5

case: a set-uid program is let go
as: user
needs: su
target: one_round 5 /bin/su -c true
start: blip record -p $PID --function work --follow-exec -o t
go: nowait
wait: print-err executed su and is not traced: process $PID
signal: KILL target
end: alone
also: target killed by KILL
reads:
check: summary.events == 5

case: a command that becomes another program
sh: printf '\n\n' | blip count --function work --follow-exec -- $TARGETS/one_round 5 $TARGETS/one_round 3
check: re.search("^work +[58]$", out, re.M)

case: a process that executes again and again is not harmed
target: exec_chain /bin/sh -c "/bin/true; exec /bin/sh -c 'exec /bin/true'"
start: blip count -p $PID --function malloc --function free --follow-exec
go: nowait
end: alone
also: target exits 0

case: libraries that the new program loads
target: one_round 5 $TARGETS/plug_host 'l0 c0:50 u0' $TARGETS/libplug_a.so
state: left
start: blip record -p $PID --function work --function 'libplug_*:plug_work' --lifecycle --follow-exec -o t
go: nowait
wait: print-err process $PID executed
go:
end:
reads:
check: len(events("plug_work")) == calls and summary.discarded == 0
expect-stderr: libplug_a.so: armed 1 probes
