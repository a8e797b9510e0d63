# SPDX-License-Identifier: MIT
# --probe: single instructions, and what is in the registers there.
as: both
target: steps 40

case: the value of a register in the middle of a function
run: blip record -p $PID --probe straight+0xb --context reg:rdi -o t
reads:
exact:
check: [e.rdi for e in events("straight+0xb")] == [2 * (i + 1) ^ 0x55 for i in range(40)]
check: sum(e.rdi for e in events()) == straights

case: every way to name an instruction
run: blip count -p $PID --probe straight+7 --probe steps:straight+0x7 --probe straight+07
check: [(c, n) for c, n in table().items()] == [("straight+0x7", 40)]
check: armed.probes == 3 and summary.events == 120

case: a run-time address
sh: exec blip count -q -p $PID --probe $$(printf '%#x' $$(($straight + 0xb))) --duration 100ms
expect: straight+0xb 0

case: an address of the file's own
sh: nm $TARGETS/steps | awk '$$3 == "looped" { print "0x" $$1 }' > symbol
sh: exec blip count -q -p $PID --probe steps+$$(cat symbol) --duration 100ms
expect: looped+0x0 0

case: a name without an offset is the first instruction
run: blip count -p $PID --probe straight --probe looped
expect: straight 40
expect: looped 1

case: instructions of a loop
run: blip count -p $PID --probe looped+2 --probe looped+5 --probe looped+8 --probe looped+0xa
check: table() == {"looped+0x2": 40, "looped+0x5": 40, "looped+0x8": 40, "looped+0xa": 1}

case: registers along a straight line
run: blip record -p $PID --context reg:rdi,reg:rax --probe straight --probe straight+4 --probe straight+7
  --probe straight+0xb --probe straight+0xe -o t
reads:
check: [e.rdi for e in events("straight")] == list(range(40))
check: [e.rdi for e in events("straight+0x4")] == list(range(1, 41))
check: [e.rdi for e in events("straight+0x7")] == list(range(2, 82, 2))
check: [e.rax for e in events("straight+0xe")] == [2 * (i + 1) ^ 0x55 for i in range(40)]
check: [e.name for e in events()[:5]] == ["straight", "straight+0x4", "straight+0x7", "straight+0xb", "straight+0xe"]

case: branches, calls and returns
run: blip count -p $PID --probe dispatch+6 --probe dispatch+8 --probe dispatch+0xb --probe dispatch+0x10
  --probe dispatch+0x12 --probe dispatch+0x15 --probe dispatch+0x1a --probe dispatch+0x1b --probe dispatch+0x1c
  --probe dispatch+0x20
check: [table()["dispatch+0x%x" % o] for o in (0x8, 0xb, 0x10)] == [odd] * 3
check: [table()["dispatch+0x%x" % o] for o in (0x12, 0x15)] == [calls - odd] * 2
check: [table()["dispatch+0x%x" % o] for o in (0x6, 0x1a, 0x1b, 0x1c, 0x20)] == [calls] * 5

case: the same with a program at a fixed address
target: steps_nopie 40
run: blip count -p $PID --probe straight+7 --probe looped+5 --probe dispatch+0x1b
check: table() == {"straight+0x7": 40, "looped+0x5": 40, "dispatch+0x1b": 40}

case: several probes at one instruction, each with what it asks for
run: blip record -p $PID --no-tid --probe straight+4 --context reg:rdi --probe straight+4 --context tid --function straight -o t
reads:
check: armed.probes == 3 and summary.events == 120
check: [e.rdi for e in events("straight+0x4") if hasattr(e, "rdi")] == list(range(1, 41))
check: len([e for e in events("straight+0x4") if hasattr(e, "vtid")]) == 40

case: live, with the tid
run: blip trace -p $PID --probe straight+0xb --context reg:rdi --max-events 3
expect-match: \d+ straight\+0xb: \{ rdi = 0x57 \}

case: a function of a library, by name and offset in it
target: lib_calls 100
with: libcalls.so.1
run: blip count -p $PID --probe parse_one
expect: parse_one 100

case: a command, from its start
until: end
run: blip count --probe main -- $TARGETS/steps 3
expect: main 1
