# SPDX-License-Identifier: MIT
# Values behind pointers while threads map, unmap, protect, move, truncate, load libraries and fork. The target checks its answers;
# what cannot be known of a value, because others take the memory away, is only read.
as: both
timeout: 120
state: loose
target: shifting 2 200 $TARGETS/libplug_a.so

case: values are right or missing, whatever happens to the memory
run: blip record -p $PID --function seen --capture 'n, what, value = p->value, said = p->text, deep = p->inner->inner->value, words = p->words' -o t
reads:
exact:
check: {(e.value == e.n * 7, e.said == f"item {e.n}", e.deep == e.n * 7) for e in events() if e.what == 0} == {(True, True, True)}
check: {(e.value, e.deep, e.faults) for e in events() if e.what == 1} == {(0, 0, 0x3c)}
check: len([e for e in events() if e.what == 2]) > 20

case: conditions that read memory
run: blip record -p $PID --function seen --filter 'what == 0 && p->value == n * 7 && p->inner->text == "item 7"' --capture n -o t
reads:
check: {e.n for e in events()} == {7} and summary.events >= 2

case: the method is told, and sessions that follow each other find the text as it was
repeat: 3
run: blip record -v -p $PID --function seen --capture 'n, p->value' -o t$CYCLE
expect-stderr: memory is read directly, where it is known to be there (valid ranges)

case: blip is killed while it reads, and what it left is cleaned
start: blip record -p $PID --function seen --capture 'n, p->text' -o t
go:
signal: KILL blip
wait: blip
go:
run: blip clean -p $PID
expect-exit: 0
expect-stderr: restored, nothing of blip is left
unharmed:
go:
