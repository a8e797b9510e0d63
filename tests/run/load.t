# SPDX-License-Identifier: MIT
# Many threads, many probes, little CPU, little memory, outputs that fail: counts stay exact, the target unharmed.
as: both
timeout: 120

case: a thousand threads, counted
target: threads 1000 100
run: blip count -p $PID --function work
check: table()["work"] == calls

case: a thousand threads, recorded with their tids
target: threads 1000 20
run: blip record -p $PID --function work --context tid -o t
exact:
check: len({e.vtid for e in events()}) == 1000

case: five sessions on four hundred threads in calls that a stop could end with EINTR
target: waiters 400 10
until: done
repeat: 5
run: blip count -p $PID --function work
check: table()["work"] == calls

case: threads that come and go all the time, thousands of probes around them
target: thread_storm
state: text fds left
until: 300ms
repeat: 3
run: blip record -p $PID --function work --function 'libc.so.6:*' --context tid -o t$CYCLE --num-subbuf 2 --subbuf-size 64k
reads:

case: ten thousand functions recorded
target: many_10k
run: blip record -p $PID --function 'many_0*' -o t
check: armed.probes + armed.refused == 10000
check: armed.refused <= 300
check: summary.events == armed.probes and summary.discarded == 0
reads:

case: ten thousand functions counted
target: many_10k
run: blip count -p $PID --function 'many_0*'
check: sum(table().values()) == armed.probes
check: set(table().values()) == {1}

case: a target that hardly gets the CPU
target: threads 8 3000
sh: renice -n 19 -g $PID
helper: timeout 60 sh -c 'while :; do :; done'
helper: timeout 60 sh -c 'while :; do :; done'
helper: timeout 60 sh -c 'while :; do :; done'
run: blip record -p $PID --function work --context tid -o t
exact:

case: a target with a tenth of a CPU and little memory
needs: root cgroup
as: root
target-as: user
target: threads 8 3000
sh: $LIB/cgroup.py limit $PID
start: blip record -p $PID --function work --context tid -o t
go:
end:
exact:
sh: $LIB/cgroup.py release $PID

case: no address space for the buffers
target: loop_calls 1000
sh: prlimit --pid $PID --as=6000000
run: blip record -p $PID --function work -o t
error: memory
sh: test ! -e t
go:

case: no address space for large buffers, but for small ones
target: loop_calls 1000
sh: prlimit --pid $PID --as=20000000
run: blip record -p $PID --function work -o t --subbuf-size 64M
expect-exit: 1
sh: test ! -e t
run: blip record -p $PID --function work -o t --subbuf-size 64k
exact:

case: no locked memory, few descriptors
target: loop_calls 1000
sh: prlimit --pid $PID --memlock=0 --nofile=16 --core=0
run: blip record -p $PID --function work -o t
exact:

# ---- outputs ----

case: a file size limit loses events, exactly
target: loop_calls 100000
start: blip record -p $PID --function work --context tid -o t
sh: prlimit --pid $BLIP_PID --fsize=200000
signal: STOP blip
go:
signal: CONT blip
end: alone
expect-exit: 1
expect-stderr: File too large
expect-stderr: the trace is incomplete
check: summary.discarded > 0 and summary.events > 0
check: calls == summary.events + summary.discarded + summary.skipped
reads: t

case: a full disk
needs: root unshare
as: root
target: loop_calls 100000
sh: mkdir small
until: end
run: unshare -m bash -c 'mount -t tmpfs -o size=300k none small && blip record -p $PID --function work -o small/t; code=$$?; cp -r small/t copy; exit $$code'
expect-exit: 1
expect-stderr: No space left on device
expect-stderr: the trace is incomplete
check: summary.events > 0
reads: copy

case: a disk that is full from the beginning
needs: root unshare
as: root
target: loop_calls 1000
sh: mkdir small
until: end
run: unshare -m bash -c 'mount -t tmpfs -o size=4k none small && head -c 4096 /dev/zero > small/fill && blip record -p $PID --function work -o small/t; code=$$?; find small -mindepth 1; exit $$code'
expect-exit: 1
expect-stderr: No space left on device
check: "small/t" not in out
go:

case: a read-only file system
needs: root unshare
as: root
target: loop_calls 1000
sh: mkdir small
until: end
run: unshare -m bash -c 'mount -t tmpfs -o ro none small && blip record -p $PID --function work -o small/t'
error: read-only, small/t
go:

case: a directory that may not be written to
as: user
target: loop_calls 1000
sh: mkdir closed && chmod 555 closed
run: blip record -p $PID --function work -o closed/t
error: closed/t, permission
go:

case: the output is removed while tracing, which is an error
target: loop_calls 100000
start: blip record -p $PID --function work -o t
sh: rm -r t
go:
end:
expect-exit: 1
expect-stderr: removed
check: summary.events == 0
check: calls == summary.events + summary.discarded + summary.skipped

case: a reader that is slow
target: loop_calls 20000
until: end
run: blip trace -p $PID --function work --num-subbuf 2 --subbuf-size 4k --duration 4s | (sleep 2; exec cat)
check: calls == summary.events + summary.discarded + summary.skipped
check: len(re.findall(r" work$", out, re.M)) == summary.events

case: blip stands still while eight threads work, tiny buffers
target: threads 8 20000
start: blip record -p $PID --function work --context tid --num-subbuf 2 --subbuf-size 4k -o t
signal: STOP blip
go:
signal: CONT blip
go:
end:
exact: total
check: summary.discarded > 0

# ---- clocks ----

case: times from CLOCK_MONOTONIC
target: threads 4 5000
run: blip record -v -p $PID --function work --context tid,cpu -o t --clock monotonic
expect-stderr: times come from CLOCK_MONOTONIC, by the vDSO
exact:
check: summary.discarded == 0
check: all(e.cpu < 256 for e in events())

case: times from CLOCK_MONOTONIC, shown in order
target: loop_calls 2000
run: blip trace --json -p $PID --function work --clock monotonic
check: len(json_lines()) == calls
check: all(a["time"] <= b["time"] for a, b in zip(json_lines(), json_lines()[1:]))

case: ten sessions with the monotonic clock on a target that asks for the time all the time
target: clock_calls
until: 100ms
repeat: 10
run: blip record -p $PID --function 'work' --clock monotonic -o t$CYCLE

case: counting needs no clock
target: loop_calls 1000
run: blip count -p $PID --function work
expect: work 1000

case: a static program with the monotonic clock
target: loop_static 20000
run: blip record -p $PID --function work --context reg:rdi -o t --clock monotonic
exact:
check: [e.rdi for e in events()] == list(range(20000))

case: children of vfork and signals with the monotonic clock
target: spawner 40
run: blip record -p $PID --function work --context tid -o t --clock monotonic
exact:

case: a seccomp filter and the monotonic clock do not go together
needs: root
as: root
target: sandboxed errno
run: blip record -p $PID --function work -o t --clock monotonic
error: seccomp, blip count
go:
