# SPDX-License-Identifier: MIT
# Attach and detach again and again under load; every thread checks its results all the time.
as: both
timeout: 120

case: a hundred sessions on hot tiny functions
target: hammer 2
until: 5ms
repeat: 100
run: blip count -p $PID --function tiny_*

case: hot tiny functions in six threads
target: hammer 6
until: 5ms
repeat: 50
run: blip record -p $PID --function tiny_* --num-subbuf 2 --subbuf-size 64k --context reg:rdi -o t$CYCLE
state: maps text fds threads left

case: every instruction of code that may be entered anywhere
target: computed_goto
until: 20ms
repeat: 60
run: blip count -p $PID --every-instruction interpret

case: threads that come and go all the time
target: thread_storm
state: maps text fds left loose
until: 10ms
repeat: 30
run: blip count -p $PID --function work --function short_life

case: threads that come and go, recorded with their tid
target: thread_storm
state: text fds left loose
until: 200ms
run: blip record -p $PID --function work --context tid --num-subbuf 8 -o t
reads:
check: len({e.vtid for e in events()}) > 8

case: a process that vforks and spawns all the time
target: busy_spawner
state: text left loose
until: 20ms
repeat: 20
run: blip count -p $PID --function work

case: an event loop sees no EINTR in fifty sessions
target: event_loop
until: 5ms
repeat: 50
run: blip count -p $PID --function work
go:

case: an event loop is traced in twenty sessions
target: event_loop
until: done
repeat: 20
run: blip record -p $PID --function work --num-subbuf 2 --subbuf-size 64k -o t$CYCLE
exact:

case: thirty-eight kinds of blocking call see nothing of fifty sessions
target: blocked
until: 5ms
repeat: 50
run: blip count -p $PID --function work
run: blip count -p $PID --function work
expect: work 1

case: signals sent during attach and detach all arrive
target: signal_storm 3000
start: blip count -p $PID --function work
go: nowait
end:
start: blip count -p $PID --function work
end:
start: blip count -p $PID --function work
end:
wait: done

case: libc functions of a working process
target: hammer 2
until: 20ms
repeat: 20
run: blip count -p $PID --function libc.so.6:mem* --function libc.so.6:str* --function libc.so.6:read --function libc.so.6:write
