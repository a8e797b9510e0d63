# SPDX-License-Identifier: MIT
# --every-instruction: the sequence of a function's instructions, and how often each ran.
as: both
target: steps 20

case: a straight line, as objdump has it
sh: objdump -d --no-show-raw-insn --disassemble=straight $TARGETS/steps | grep -P '^ +[0-9a-f]+:' | cut -d: -f1 > listing
run: blip record -p $PID --every-instruction straight -o t
reads:
check: [e.ip - straight for e in events()] ==
  [int(a, 16) - int(read_file("listing").split()[0], 16) for a in read_file("listing").split()] * 20

case: all events of a request have one class
run: blip record -p $PID --every-instruction straight --every-instruction looped -o t
reads:
check: (len(events("straight")), len(events("looped"))) == (20 * 5, 3 * 20 + 2)
check: [e.ip - looped for e in events("looped")] == [0] + [2, 5, 8] * 20 + [10]

case: which way a function took
run: blip record -p $PID --every-instruction dispatch -o t
reads:
check: [e.ip - dispatch for e in events()][:22] ==
  [0, 1, 2, 3, 6, 0x12, 0x15, 0x1c, 0x20, 0x1a, 0x1b] + [0, 1, 2, 3, 6, 8, 0xb, 0x1c, 0x20, 0x10, 0x1a]

case: live events name the place
run: blip trace -p $PID --every-instruction straight --max-events 4
expect-match: straight: \{ ip = 0x[0-9a-f]+ <straight\+0x0> \}
expect-match: straight\+0xb: \{ ip = 0x[0-9a-f]+ <straight\+0xb> \}

case: live events as JSON
run: blip trace -p $PID --every-instruction straight --max-events 5 --json
check: [e["place"] for e in json_lines()] == ["straight+0x0", "straight+0x4", "straight+0x7", "straight+0xb", "straight+0xe"]

case: how often each instruction ran, in the order of addresses
run: blip count -p $PID --every-instruction looped --every-instruction straight
check: [line.split() for line in out.splitlines()[1:]] == [["looped+0x0", "1"], ["looped+0x2", "20"], ["looped+0x5", "20"],
  ["looped+0x8", "20"], ["looped+0xa", "1"]] + [["straight+0x%x" % o, "20"] for o in (0, 4, 7, 11, 14)]

case: counts as JSON
run: blip count -p $PID --every-instruction straight --json
check: [(c["name"], c["hits"]) for c in json_lines()] == [("straight+0x%x" % o, 20) for o in (0, 4, 7, 11, 14)]

case: together with a probe and a function at the same instruction
run: blip count -p $PID --every-instruction straight --probe straight+4 --function straight
check: summary.events == 20 * 5 + 20 + 20

case: with a register
run: blip record -p $PID --every-instruction straight --context reg:rdi -o t
reads:
check: [e.rdi for e in events() if e.ip == straight + 0xb] == [2 * (i + 1) ^ 0x55 for i in range(20)]

case: the whole program
run: blip record -p $PID --every-instruction * -o t
reads:
check: len([e for e in events() if straight <= e.ip < straight + 15]) == 100

case: threads are cancelled where they wait, in a libc of which every instruction is probed
target: cancels 20
state: text fds
run: blip count -p $PID --every-instruction libc.so.6:* --max-probes 1000000
check: summary.events > 20

case: threads are cancelled where they wait, musl
needs: musl-gcc
target: cancels_musl_static 20
state: text fds
run: blip count -p $PID --every-instruction *
check: table()["wait_forever+0x0"] == 20

case: a recorded trace names the places, whatever has become of the program
run: blip record -p $PID --every-instruction straight --every-instruction looped -o t
reads:
sh: blip view t > text; grep -c ' straight: ' text; grep -c ' straight+0xb: ' text; grep -c ' looped+0x2: ' text
check: out.split() == ["20", "20", "20"]
sh: blip view t --json --function straight | grep -c '"name":"straight+0xb","place":"straight+0xb"'
check: out.split() == ["20"]
sh: babeltrace2 t | grep -c 'blip_statedump:place.*address = 0x.*name = "straight"'
check: out.split() == ["1"]
