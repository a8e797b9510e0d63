# SPDX-License-Identifier: MIT
# Contexts: their values against what the target knows of itself.
as: both
target: contexts

case: every general register, rip and rflags
run: blip record -p $PID --function known_registers --context regs -o t
reads:
exact:
check: {(e.rax, e.rcx, e.rdx, e.rbx, e.rbp, e.rsi, e.rdi) for e in events()}
  == {(0x1100, 0x1101, 0x1102, 0x1103, 0x1105, 0x1106, 0x1107)}
check: {(e.r8, e.r9, e.r10, e.r11, e.r12, e.r13, e.r14, e.r15) for e in events()}
  == {(0x1108, 0x1109, 0x110a, 0x110b, 0x110c, 0x110d, 0x110e, 0x110f)}
check: {e.rip for e in events()} == {entry}
check: len({e.rsp for e in events()}) == 1 and events()[0].rsp % 16 == 8
check: all(e.rflags & 0x202 == 0x202 for e in events())

case: one register
run: blip record -p $PID --function known_registers --context reg:r11 --context reg:rbp -o t
reads:
check: [(e.r11, e.rbp) for e in events()] == [(0x110b, 0x1105)] * 5

case: each register alone, live
run: blip trace -p $PID --function known_registers --context reg:rax --context reg:rcx --context reg:rdx
  --context reg:rbx --context reg:rbp --context reg:rsi --context reg:r8 --context reg:r9 --context reg:r10
  --context reg:r12 --context reg:r13 --context reg:r14 --context reg:r15 --max-events 1
expect-match: rax\W+0x1100\b.*rcx\W+0x1101\b.*rdx\W+0x1102\b.*rbx\W+0x1103\b.*rbp\W+0x1105\b.*rsi\W+0x1106\b
expect-match: r8\W+0x1108\b.*r9\W+0x1109\b.*r10\W+0x110a\b.*r12\W+0x110c\b.*r15\W+0x110f\b

case: ip, pid, tid, comm, cpu
run: blip record -p $PID --function known_registers --context ip --context pid --context tid --context comm
  --context cpu -o t
reads:
exact:
check: {(e.ip, e.vpid, e.vtid, e.procname) for e in events()} == {(entry, pid, tid, "known name")}
check: {e.cpu for e in events()} == {on_cpu}

case: the spellings vpid, vtid and procname
run: blip record -p $PID --function known_registers --context vpid --context vtid --context procname -o t
reads:
check: {(e.vpid, e.vtid, e.procname) for e in events()} == {(pid, tid, "known name")}

case: the same context twice is one field
run: blip record -p $PID --function known_registers --context tid --context tid --context reg:rdi --context reg:rdi -o t
reads:
exact:

case: the tid of each thread
target: threads 6 50
run: blip record -p $PID --function work --context tid -o t
reads:
exact:
check: {e.vtid for e in events()} == {tid0, tid1, tid2, tid3, tid4, tid5}
check: [sum(e.vtid == t for e in events()) for t in (tid0, tid1, tid2, tid3, tid4, tid5)] == [50] * 6

case: the tid of each thread of a static program
target: threads_static 6 50
run: blip record -p $PID --function work --context tid -o t
reads:
exact:
check: {e.vtid for e in events()} == {tid0, tid1, tid2, tid3, tid4, tid5}

case: an unknown register is a usage error
run: blip record -p $PID --function known_registers --context reg:zork -o t
expect-exit: 2
expect-stderr: zork

case: an unknown context is a usage error
run: blip record -p $PID --function known_registers --context zork -o t
expect-exit: 2
expect-stderr: zork
