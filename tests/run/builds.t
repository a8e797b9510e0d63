# SPDX-License-Identifier: MIT
# The ways a program can be built.
as: both

case: position-independent
target: loop_calls 500
run: blip record -p $PID --function work --context reg:rdi --context ip -o t
exact:
check: {e.ip for e in events()} == {work}

case: not position-independent
target: loop_nopie 500
run: blip record -p $PID --function work --context reg:rdi --context ip -o t
exact:
check: {e.ip for e in events()} == {work}

case: static
target: loop_static 500
run: blip record -p $PID --function work --context reg:rdi --context ip --context tid -o t
exact:
check: {(e.ip, e.vtid) for e in events()} == {(work, PID)}

case: static and position-independent
target: loop_static_pie 500
run: blip record -p $PID --function work --context reg:rdi --context ip --context tid -o t
exact:
check: {(e.ip, e.vtid) for e in events()} == {(work, PID)}

case: not optimised
target: loop_O0 500
run: blip record -p $PID --function work --context reg:rdi -o t
exact:
check: [e.rdi for e in events()] == list(range(500))

case: with endbr64 at every entry
target: loop_cet 500
run: blip record -p $PID --function work --context reg:rdi -o t
exact:
check: [e.rdi for e in events()] == list(range(500))

case: a stripped program by address
target: loop_stripped 500
run: blip record -p $PID --function $work --context reg:rdi -o t
exact:
check: [e.rdi for e in events()] == list(range(500))

case: a switch with a jump table, and a loop near the entry
target: jump_table 5000
run: blip record -p $PID --function dispatch --function count_down -o t
exact: both

case: assembly with flags that live across the entry
target: odd 800
run: blip record -p $PID --function odd_* --context reg:rdi -o t
reads:
check: armed.probes >= 15
check: len(events("odd_setc")) == 800 and len(events("odd_adc")) == 800 and len(events("odd_all_flags")) == 800

case: assembly functions, all registers
target: odd 100
run: blip record -p $PID --function odd_* --context regs -o t
reads:
check: [e.rflags & 0x8d5 for e in events("odd_all_flags")][:8] == [0, 1, 4, 0x10, 0x40, 0x80, 0x800, 0x8d5]

case: assembly functions, counted
target: odd 800
run: blip count -p $PID --function odd_*
check: all(n == 800 for f, n in table().items() if f.startswith("odd_") and f not in ("odd_entry_is_loop", "odd_call", "odd_rip_relative", "odd_return_offset"))

case: what cannot be probed is refused with the reason and the rest goes on
target: odd 10
run: blip count -p $PID --function odd_* -v
expect-stderr: refused odd_undefined: trap instruction (ud2)
expect-stderr: refused odd_halts: privileged instruction (hlt)
expect-stderr: refused odd_transaction: control transfer of a rare kind (xbegin)
expect-stderr: refused odd_overlapped: another instruction begins inside it
check: armed.refused == 4 and table()["odd_ret_only"] == 10 and table()["odd_branch_inside"] == 10
