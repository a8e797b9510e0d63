# SPDX-License-Identifier: MIT
# --backend: the same trace by other means. uprobe: kernel breakpoints, a second opinion on every count and value.
as: root
needs: root
timeout: 60

case: uprobes count what jumps count, in threads
target: threads 3 5000
run: blip count --backend jump -p $PID --function work
check: table()["work"] == calls
run: blip count --backend uprobe -p $PID --function work
check: table()["work"] == calls
check: armed.paused_ms == 0

case: uprobes record every call, with tid and argument
target: threads 3 5000
run: blip record --backend uprobe -p $PID --function work --context tid --context reg:rdi -o t
reads:
exact:
check: {e.vtid for e in events()} == {tid0, tid1, tid2}
check: all(sorted(e.rdi for e in events() if e.vtid == t) == list(range(5000)) for t in (tid0, tid1, tid2))

case: the same values as from pads
target: contexts
run: blip record --backend uprobe -p $PID --function known_registers --context regs --context ip --context pid
  --context tid --context comm --context cpu -o t
reads:
exact:
check: {(e.rax, e.rcx, e.rdx, e.rbx, e.rbp, e.rsi, e.rdi) for e in events()}
  == {(0x1100, 0x1101, 0x1102, 0x1103, 0x1105, 0x1106, 0x1107)}
check: {(e.r8, e.r9, e.r10, e.r11, e.r12, e.r13, e.r14, e.r15) for e in events()}
  == {(0x1108, 0x1109, 0x110a, 0x110b, 0x110c, 0x110d, 0x110e, 0x110f)}
check: {e.rip for e in events()} == {entry} and events()[0].rsp % 16 == 8
check: {(e.ip, e.vpid, e.vtid, e.procname, e.cpu) for e in events()} == {(entry, pid, tid, "known name", on_cpu)}

case: live
target: contexts
run: blip trace --backend uprobe -p $PID --function known_registers --context reg:r11 --max-events 2
until: end
expect-match: known_registers.*r11\W+0x110b

case: tiny buffers discard, exactly
target: threads 3 20000
run: blip record --backend uprobe -p $PID --function work --num-subbuf 2 --subbuf-size 4k -o t
exact:
start: blip record --backend uprobe -p $PID --function work --num-subbuf 2 --subbuf-size 4k -o t2
signal: STOP blip
go:
signal: CONT blip
go:
end:
check: summary.discarded > 20000
check: summary.events + summary.discarded + summary.skipped == total - calls
check: len(events("work")) == summary.events

case: five thousand probes at once
target: many
run: blip count --backend uprobe -p $PID --function many_0*
check: armed.probes == 5000
check: sum(table().values()) == 5000

case: a library's function, a program without symbols of its own
target: lib_calls 300
with: libcalls.so.1
run: blip count --backend uprobe -p $PID --function libcalls.so.1:*
check: max(table().values()) > 0

case: threads come and go
target: thread_storm
state: text fds left
run: blip count --backend uprobe -p $PID --function work
check: table()["work"] > 0

case: the first thread ends while it is traced, new ones come
until: alone
sh: printf '\n\n' > in; blip count --backend uprobe --function work -- $TARGETS/leaderless 1000 < in
check: table()["work"] == 2000

case: forks succeed and are not followed, and blip says so
target: forker 20
run: blip record --backend uprobe -p $PID --function work -o t
expect-stderr: children are not traced
check: summary.events == calls / 2

case: children in the same memory are not counted
target: spawner 20
run: blip count --backend uprobe -p $PID --function work
check: table()["work"] == calls / 2

case: nothing is said when children are not wanted
target: loop_calls 10
run: blip count --backend uprobe --no-follow-fork -p $PID --function work
expect-not: children

case: in a pid namespace, ids as the target sees them
inside: unshare --fork --pid --mount-proc --
target: threads 3 500
state: loose text
run: blip record --backend uprobe -p $PID --function work --context tid --context pid -o t
reads:
exact:
check: {e.vtid for e in events()} == {tid0, tid1, tid2}
check: max(e.vpid for e in events()) < 100

case: a command from its start on, counted as jumps count it
until: alone
run: blip count --backend jump --function main --function libc.so.6:malloc -- /usr/bin/ls -l /etc/hostname
check: table()["malloc"] > 20 and table()["main"] == 1
sh: blip count --function libc.so.6:malloc -- /usr/bin/ls -l /etc/hostname | grep ^malloc > by_jump;
  blip count --backend uprobe --function libc.so.6:malloc -- /usr/bin/ls -l /etc/hostname | grep ^malloc > by_uprobe
check: read_file("by_jump") == read_file("by_uprobe")

case: blip is killed, the target runs on without its breakpoints
target: loop_calls 1000
start: blip count --backend uprobe -p $PID --function work
go:
signal: KILL blip
wait: blip
end: alone
expect-exit: -9 137
unharmed:
run: blip count --backend jump -p $PID --function work
check: table()["work"] == calls

case: an ordinary user is told what it takes
as: user
target: loop_calls 10
run: blip count --backend uprobe -p $PID --function work
error: root, CAP_PERFMON, perf_event_paranoid

case: another blip's jumps are in the way
target: loop_calls 1000
helper: blip count -p $PID --function work
wait: helper armed
run: blip count --backend uprobe -p $PID --function work
error: already traced by blip
go:
signal: INT helper
wait: ended helper

case: an unknown backend
target: loop_calls 10
run: blip count --backend warp -p $PID --function work
usage: warp, auto, jump, uprobe

case: a clock that uprobes do not have
target: loop_calls 10
run: blip record --backend uprobe --clock tsc -p $PID --function work -o t
usage: --clock tsc
