# SPDX-License-Identifier: MIT
# Threads that wait, processes that are stopped, timers that run, parents that watch: nobody sees blip come and go.
as: both
timeout: 60

case: a thread sleeps in a function whose return is awaited: leaving does not wait for it
target: call_kinds wait 1
start: blip record -p $PID --function waits --return waits --return waits_outside -o t
go: nowait
wait: say waiting
end:
reads:
check: untouched(PID)
line: go
wait: done

case: every wait of a program whose waiting functions are all probed
as: user
target: blocked
until: 5ms
run: blip count -p $PID --function libc.so.6:* --return libc.so.6:* --max-probes 20000
go:

case: stopped and continued all the time
target: threads 4 2000
helper: bash -c 'while kill -STOP $PID && kill -CONT $PID; do :; done'
until: done
repeat: 8
run: blip count -p $PID --function work
check: table()["work"] == calls
signal: KILL helper
wait: ended helper
signal: CONT target
go:

case: timers expire as often as the clock says
target: timers
until: done
repeat: 5
run: blip count -p $PID --function work
expect: work 1

case: threads sleep behind a filter that does not know restart_syscall, twenty times
as: root
target: filtered_sleep
repeat: 20
run: blip count -p $PID --function work
expect: work 100

case: the same threads, recorded
as: root
target: filtered_sleep
run: blip record -p $PID --function work --return work --args --context tid -o t
reads:

case: a user is told that the filter needs root, and the sleepers live
as: user
target: filtered_sleep
run: blip count -p $PID --function work
error: $PID, seccomp, root
go:

case: a parent is told nothing of its child
target: watched
start: blip count -p $child --function work
go:
end:
expect: work 1
go:
check: changes == 0

case: a parent is told nothing of its stopped child
target: watched stopped
start: blip count -p $child --function work
go:
end:
check: state_letter(child) == "T"
go:
check: changes == 0

case: a shell is told nothing of its job
sh: mkfifo in; set -m; $TARGETS/loop_calls 10 < in > out & pid=$$!; exec 3> in; until grep -q ready out; do sleep 0.01; done;
  blip count -p $$pid --function work --duration 20ms 2>/dev/null 3>&-; jobs > jobs; echo >&3; until grep -q done out; do sleep 0.01; done;
  jobs >> jobs; exec 3>&-; wait $$pid; echo "code=$$?"; cat jobs
expect: code=0
check: out.count("Running") == 2 and "Stopped" not in out + err

case: the target looks at itself all the time, and finds no descriptor of blip's
target: looks_around
state: text fds left
go:
until: done
repeat: 3
run: blip record -p $PID --function work --context tid -o t$CYCLE
exact:

case: frozen by its cgroup: an error in time, and it stays frozen
as: root
needs: root freezer
target: loop_calls 10
state: text fds left
sh: $LIB/cgroup.py freeze $PID
run: blip count -p $PID --function work
error: $PID
sh: $LIB/cgroup.py frozen $PID
sh: $LIB/cgroup.py thaw $PID
go:

case: blip's waits are interrupted
needs: strace
target: threads 4 100
sh: for n in 1 2 3 5 8; do strace -f -qq -o /dev/null -e trace=wait4,waitid -e inject=wait4,waitid:error=EINTR:when=$$n+3
  blip count -p $PID --function work --duration 10ms >/dev/null 2>>said || exit 1; done
run: blip count -p $PID --function work
check: table()["work"] == calls

case: without restartable sequences
inside: env GLIBC_TUNABLES=glibc.pthread.rseq=0
target: threads 4 20000
run: blip record -p $PID --function work --context tid -o t
exact:

case: another time in the target's namespace
as: root
needs: root unshare
inside: unshare --time --fork --monotonic 864000 --boottime 864000
target: loop_calls 10
sh: date +%s%N > before
run: blip record -p $PID --function work -o t
sh: date +%s%N > after
check: int(read_file("before")) < events()[0].time <= events()[-1].time < int(read_file("after"))
