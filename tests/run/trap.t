# SPDX-License-Identifier: MIT
# --backend trap, --allow-trap: int3 and a SIGTRAP handler in the process. Whatever the program does with SIGTRAP itself
# goes on as if nobody were there; afterwards its text, mappings and signal actions are what they were.
as: both
timeout: 60

case: traps count what jumps count, in threads
target: threads 3 5000
run: blip count --backend jump -p $PID --function work
check: table()["work"] == calls
run: blip count --backend trap -p $PID --function work
check: table()["work"] == calls
expect-stderr: , 1 by traps (slow)

case: traps record every call, with tid and argument
target: threads 3 5000
run: blip record --backend trap -p $PID --function work --context tid --context reg:rdi -o t
reads:
exact:
check: {e.vtid for e in events()} == {tid0, tid1, tid2}
check: all(sorted(e.rdi for e in events() if e.vtid == t) == list(range(5000)) for t in (tid0, tid1, tid2))

case: the same values as by jumps
target: contexts
run: blip record --backend trap -p $PID --function known_registers --context regs --context ip --context pid
  --context tid --context comm --context cpu -o t
reads:
exact:
check: {(e.rax, e.rcx, e.rdx, e.rbx, e.rbp, e.rsi, e.rdi) for e in events()}
  == {(0x1100, 0x1101, 0x1102, 0x1103, 0x1105, 0x1106, 0x1107)}
check: {(e.r8, e.r9, e.r10, e.r11, e.r12, e.r13, e.r14, e.r15) for e in events()}
  == {(0x1108, 0x1109, 0x110a, 0x110b, 0x110c, 0x110d, 0x110e, 0x110f)}
check: {e.rip for e in events()} == {entry} and events()[0].rsp % 16 == 8
check: {(e.ip, e.vpid, e.vtid, e.procname, e.cpu) for e in events()} == {(entry, pid, tid, "known name", on_cpu)}

case: every instruction of a function
target: loop_calls 100
run: blip count --backend trap -p $PID --every-instruction work
check: table()["work+0x0"] == 100

case: a program with a handler, and traps, of its own
target: own_traps
run: blip record --backend trap -p $PID --function mix --context reg:rdi -o t
reads:
exact:

case: ten sessions on a program with its own traps
target: own_traps
until: done
repeat: 10
run: blip count --backend trap -p $PID --function mix
expect: mix 100

case: a program that asks for another handler while it is traced, and traps inside it
target: trap_actions
run: blip count --backend trap -p $PID --function work
check: table()["work"] == 102
go:

case: the disposition after the trace is the program's last one
target: trap_actions
sh: grep SigCgt /proc/$PID/status >before
run: blip count --backend trap -p $PID --function work
sh: grep SigCgt /proc/$PID/status | cmp - before

case: a program without a handler has none afterwards
target: loop_calls 100
sh: grep Sig[CI]gt* /proc/$PID/status >before
run: blip count --backend trap -p $PID --function work
expect: work 100
sh: grep Sig[CI]gt* /proc/$PID/status | cmp - before

case: a thread that blocks SIGTRAP
target: trap_actions blocks
until: alone
run: blip count --backend trap -v -p $PID --function work
expect-exit: 0 1
expect-stderr: blocks SIGTRAP: a trap would end the process
go:

case: a handler that blocks SIGTRAP
target: trap_actions masks
until: alone
run: blip count --backend trap -v -p $PID --function work
expect-exit: 0 1
expect-stderr: the handler of signal 10 blocks SIGTRAP
go:

case: no traps in the C library
target: loop_calls 100
run: blip count --backend trap -p $PID --function libc.so.6:read
expect-exit: 1
expect-stderr: no traps in the C library

case: no traps under a seccomp filter
target: sandboxed errno
until: alone
run: blip count --backend trap -v -p $PID --function work
expect-exit: 0 1
expect-stderr: seccomp
go:

case: a storm of signals whose handlers are probed too
target: signal_storm 500
run: blip count --backend trap -p $PID --function work
check: table()["work"] == calls

case: twenty sessions in a storm of signals
target: signal_storm 50
repeat: 20
run: blip count --backend trap -p $PID --function work

case: sessions that end while threads hit traps
target: hammer 2
until: 20ms
repeat: 20
run: blip count --backend trap -p $PID --function tiny_*

case: a fork's child has its own traps, and is restored too
target: fork_lives
run: blip count --backend trap -p $PID --function work
check: table()["work"] == 20
go:

case: children made by posix_spawn, vfork and system
target: spawner
run: blip count --backend trap -p $PID --function work
go:

case: SIGKILL of blip; the program goes on with its traps, the next blip cleans up
target: trap_actions
start: blip count --backend trap -p $PID --function work
go:
signal: KILL blip
wait: blip
go:
run: blip count -v -p $PID --function work
expect-stderr: cleaned up after a blip that was killed
check: table()["work"] == 102

case: SIGKILL of blip under load
target: hammer 2
start: blip count --backend trap -p $PID --function tiny_*
signal: KILL blip
wait: blip
sleep: 50ms
until: 50ms
run: blip count --backend trap -p $PID --function tiny_*

case: SIGKILL at each ptrace call
needs: strace
timeout: 280
target: hammer 2
sh: for n in $$(seq 1 120); do strace -f -qq -o /dev/null -e trace=ptrace -e inject=ptrace:signal=KILL:when=$$n
  blip count --backend trap -p $PID --function 'tiny_*' --duration 10ms >/dev/null 2>&1; grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
until: 50ms
run: blip count -p $PID --function tiny_*

case: SIGKILL at each write to the target's memory
needs: strace
timeout: 280
target: hammer 2
sh: for n in $$(seq 1 60); do strace -f -qq -o /dev/null -e trace=pwrite64,process_vm_writev
  -e inject=pwrite64,process_vm_writev:signal=KILL:when=$$n
  blip count --backend trap -p $PID --function 'tiny_*' --duration 10ms >/dev/null 2>&1; grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
until: 50ms
run: blip count -p $PID --function tiny_*

case: gdb comes and goes while traps are armed
needs: gdb
target: loop_calls 100
start: blip count --backend trap -p $PID --function work
sh: gdb -p $PID -batch -ex detach >/dev/null 2>&1
go:
end:
expect: work 100

case: --allow-trap changes nothing where jumps fit
target: loop_calls 100
run: blip count --allow-trap -p $PID --function work
expect: work 100
check: "traps" not in err
