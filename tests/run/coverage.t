# SPDX-License-Identifier: MIT
# blip list --coverage: how each instruction would be patched alone.
as: both

case: of a file
run: blip list $TARGETS/loop_calls --coverage
expect-match: ^nop5 +\d+ +[\d.]+ %$
expect-match: ^evict-neighbour +\d+ +[\d.]+ %$
expect-match: ^jump +\d+ +[\d.]+ %$
expect-match: ^refused +\d+ +[\d.]+ %$
check: re.search(r"^blip: \d+ instructions of \d+ functions: \d+ can be probed by a jump \([\d.]+ %\), \d+ refused$", err, re.M)

case: the numbers add up
run: blip list $TARGETS/loop_calls --coverage --json
check: (lambda o: o["total"] == o["jump"] + o["trap"] + o["refused"] and o["refused"] == sum(o["reasons"].values()))(json_lines()[-1])
check: (lambda o: o["jump"] == sum(o["steps"][s] for s in ("nop5", "insn", "window", "upstream", "springboard", "pun", "prefixed-pun",
  "evict-next", "evict-neighbour")))(json_lines()[-1])
check: len(json_lines()) == 1

case: of one function: as many as objdump shows
sh: objdump -d --no-show-raw-insn --disassemble=dispatch $TARGETS/steps | grep -cP '^ +[0-9a-f]+:' > number
run: blip list $TARGETS/steps --coverage --json dispatch
check: json_lines()[-1]["total"] == int(read_file("number")) and json_lines()[-1]["functions"] == 1

case: of a process
target: steps 10
run: blip list -p $PID --coverage dispatch
expect-stderr: 14 instructions of 1 functions

case: what is refused is listed
run: blip list $TARGETS/odd --coverage --json -v
check: len(json_lines()) - 1 == json_lines()[-1]["refused"] > 0
check: all("place" in o and "refused" in o and o["address"] > 0 for o in json_lines()[:-1])

case: what is refused is listed as text
run: blip list $TARGETS/odd --coverage -v
expect-match: ^0x[0-9a-f]{12}  odd  \w+\+0x[0-9a-f]+  # .

case: libc
timeout: 120
sh: exec blip list $$(ldd $TARGETS/loop_calls | awk '/libc.so.6/ { print $$3 }') --coverage --json
check: json_lines()[-1]["jump"] / json_lines()[-1]["total"] > 0.99

case: no function matches
run: blip list $TARGETS/steps --coverage straigth
error: nearest: straight

case: no such file
run: blip list /nonexistent --coverage
error: /nonexistent, No such file
