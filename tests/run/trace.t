# SPDX-License-Identifier: MIT
# blip trace: events printed while the target runs.
as: both

case: prints one line per event with its fields
target: loop_calls 3
run: blip trace -p $PID --function work --context reg:rdi
check: len(out.splitlines()) == 3
expect: work
check: [int(re.search(r"rdi\W+(\w+)", line)[1], 0) for line in out.splitlines()] == [0, 1, 2]
check: all(re.search(rf"\b{PID}\b", line) for line in out.splitlines())
expect-stderr: blip: 3 events, 0 discarded, 0 skipped

case: an event is shown while the target waits for its next work
target: loop_calls 1
start: blip trace -p $PID --function work
go:
wait: print work
go:
end:
check: len(out.splitlines()) == 2

case: --json prints one object per event
target: loop_calls 3
run: blip trace -p $PID --function work --context reg:rdi --context tid --json
check: len(json_lines()) == 3
check: all(isinstance(o, dict) and o["name"] == "work" for o in json_lines())
check: [str(PID) in line for line in out.splitlines()] == [True] * 3

case: --max-events ends it
target: loop_calls 1000
until: end
run: blip trace -p $PID --function work --max-events 5
check: len(out.splitlines()) == 5

case: a reader that goes away ends it, and the target is unharmed
target: loop_calls 1000
start: blip trace -p $PID --function work | head -1
go:
go:
end: alone
expect-exit: 0
check: len(out.splitlines()) == 1
go:

case: --quiet says nothing but events
target: hammer 1
launch: blip trace -p $PID --function tiny_* -q --max-events 2
wait: blip
end: alone
check: err == "" and len(out.splitlines()) == 2 and all("tiny_" in line for line in out.splitlines())

case: no colour when the output is not a terminal
target: loop_calls 2
run: blip trace -p $PID --function work
check: "\x1b" not in out and "\x1b" not in err

case: --color=always colours
target: loop_calls 2
run: blip trace -p $PID --function work --color=always
check: "\x1b[" in out

case: events that are read fast and slowly are printed in the order of time
target: shifting 3 400 $TARGETS/libplug_a.so
state: loose
timeout: 120
run: blip trace -p $PID --function seen --capture 'p->value, p->text' --function now --json
check: len(json_lines()) > 100 and {e["name"].split()[0] for e in json_lines()} == {"seen", "now"}
check: [e["time"] for e in json_lines()] == sorted(e["time"] for e in json_lines()) or "not in the order of time" in err

case: -o writes to a file what stdout would have, text and JSON
target: loop_calls 3
run: blip trace -p $PID --function work --context reg:rdi -o events
check: out == "" and [int(re.search(r"rdi\W+(\w+)", line)[1], 0) for line in read_file("events").splitlines()] == [0, 1, 2]
expect-stderr: blip: 3 events, 0 discarded, 0 skipped
run: blip trace -p $PID --function work --json --output events
check: out == "" and [e["name"] for e in json_file("events")] == ["work"] * 3

case: -o leaves stdout to the command
sh: blip trace --function main -o events -q -- $TARGETS/loop_calls 1 < /dev/null
check: "ready" in out and len(read_file("events").splitlines()) == 1 and "main" in read_file("events")

case: -o a file that cannot be written, a directory, a FIFO that nobody reads
target: loop_calls 1
run: blip trace -p $PID --function work -o /nowhere/events
error: -o, /nowhere/events, no such file
run: blip trace -p $PID --function work -o .
error: -o, is a directory
sh: mkfifo fifo; blip trace -p $PID --function work -o fifo
error: -o, fifo, nobody reads this FIFO

case: -o a full disk
target: loop_calls 3
run: blip trace -p $PID --function work -o /dev/full
expect-exit: 1
expect-stderr: blip: /dev/full: No space left on device

case: -o a FIFO whose reader goes away ends it
target: loop_calls 1000
sh: mkfifo fifo
helper: head -n 1 < fifo > line; echo read
start: blip trace -p $PID --function work -o fifo
go:
go:
end: alone
expect-exit: 0
check: "work" in read_file("line")
