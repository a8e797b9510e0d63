# SPDX-License-Identifier: MIT
# blip run: scripts at probes, here in the text form of blocks. What languages add is in tests of their own.
as: both
case: runs handlers at hits, begin before and end behind them
target: loop_calls 3
run: blip run $LIB/../scripts/calls.blip -p $PID
check: out.splitlines() == ["begin"] + [f"work({i}) in {PID}/{PID}" for i in range(3)] + [f"n[{PID}]: 3", "end"]
expect-stderr: blip: armed 1 probes in
expect-stderr: blip: 3 events, 0 discarded, 0 skipped

case: a command is run from its first instruction to its end, and its status is passed on
until: alone
run: blip run $LIB/../scripts/calls.blip -- $TARGETS/spawned 3
expect: work(77) in
check: [line for line in out.splitlines() if line.startswith("work")] == [f"work({i}) in {p}/{p}" for i in (77, 0, 1, 2)
  for p in re.findall(r"work\(77\) in (\d+)", out)]
check: out.rstrip().endswith("end")
expect-stderr: blip: 4 events, 0 discarded, 0 skipped

case: timers need no target, and the script's code is blip's
until: alone
run: blip run $LIB/../scripts/timer.blip
expect-exit: 7
check: out == "ticks: 3\n"
expect-stderr: blip: 0 events, 0 discarded, 0 skipped

case: a script that probes wants a target
run: blip run $LIB/../scripts/calls.blip
usage: -p PID, --

case: a script that is wrong is refused with its line
run: blip run $LIB/../scripts/wrong.blip
error: wrong.blip: line 3: no such probe: nonsense

case: --parse-only reads the script, --check compiles it
until: alone
run: blip run --parse-only $LIB/../scripts/calls.blip
check: out == "" and err == ""

case: a script is a command by its first line
target: loop_calls 2
sh: ln -s $$(command -v blip) blip; PATH=$$PWD:$$PATH $LIB/../scripts/calls.blip -p $PID --duration 300ms
expect: begin
expect: end

case: hits are run, discarded or skipped, exactly, and globals say the same
target: loop_calls 200000
run: blip run $LIB/../scripts/tally.blip -p $PID
check: int(re.search(r"n: (\d+)", out)[1]) == summary.events
check: summary.events + summary.discarded + summary.skipped == calls

case: tiny buffers discard, exactly
target: loop_calls 300000
run: blip run $LIB/../scripts/tally.blip -p $PID --num-subbuf 2 --subbuf-size 4k
check: int(re.search(r"n: (\d+)", out)[1]) == summary.events
check: summary.events + summary.discarded + summary.skipped == calls

case: stacks, their frames by name, and the thread's name
target: stacks 3
run: blip run $LIB/../scripts/stack.blip -p $PID
expect: leaf < middle < outer by stacks
expect: leaf < on_signal < 

case: returns
target: loop_calls 3
run: blip run $LIB/../scripts/returns.blip -p $PID
check: len(re.findall(r"^work returns -?\d+ on cpu \d+ \(\S*work\.h:\d+\)$", out, re.M)) == 3

case: a library that comes later, its handlers and its place in the same globals
target: plug_host 'l0 c0:5 u0' $TARGETS/libplug_a.so
timeout: 60
state: loose
run: blip run $LIB/../scripts/plugin.blip -p $PID --wait-library
check: int(re.search(r"calls\[plug_work\]: (\d+)", out)[1]) == calls

case: static marks
target: marks 6
run: blip run $LIB/../scripts/mark.blip -p $PID
expect: n: 6

case: two processes share the script's globals
target: workers 2
run: blip run $LIB/../scripts/tally.blip -p $PID -p $worker1
expect: n: 20

case: processes of a name
target: workers 3
run: blip run $LIB/../scripts/tally.blip -n workers
expect: n: 40

case: a script without a hit lasts as long as its target
until: alone
run: blip run $LIB/../scripts/nothing.blip -c 'sleep 0.3'
check: out.splitlines() == ["begin", "end"]

case: a script without a hit lasts as long as a process that is there
target: loop_calls 1
run: blip run $LIB/../scripts/nothing.blip -p $PID
check: out.splitlines() == ["begin", "end"]

case: handlers that fail are told, and others go on
target: loop_calls 4
run: blip run $LIB/../scripts/failing.blip -p $PID
check: out.splitlines() == ["1", "3"]
check: err.count("probe 0: division by 0") == 2 and err.count("probe 1: too many operations for one hit") == 1

case: a reader that goes away ends it, and the target is unharmed
target: loop_calls 1000
start: blip run $LIB/../scripts/chatty.blip -p $PID | head -1
go:
go:
end: alone
expect-exit: 0
check: len(out.splitlines()) == 1
go:

case: while nobody reads, hits are discarded and nothing is lost silently
target: loop_calls 100000
start: blip run $LIB/../scripts/chatty.blip -p $PID --num-subbuf 2 --subbuf-size 16k --duration 2s |
  (until test -e read; do sleep 0.05; done; tail -n 1)
go:
go:
helper: touch read
end: alone
check: int(re.search(r"n: (\d+)", out)[1]) + summary.discarded == 200000 and summary.discarded > 0

case: signals to blip itself
sh: blip run $LIB/../scripts/signal.blip > out 2> err & until grep -q ready out; do sleep 0.02; done;
  for i in 1 2 3; do kill -USR1 $!; sleep 0.05; done; wait $!; echo code $?; cat out
check: out.splitlines() == ["code 0", "ready", "signal 1", "signal 2", "signal 3"]

case: --check compiles for a target and arms nothing
target: loop_calls 3
until: alone
run: blip run --check $LIB/../scripts/calls.blip -p $PID
check: out == "" and err == ""

case: --check says what is not there
target: hammer 1
until: alone
run: blip run --check $LIB/../scripts/stack.blip -p $PID
error: leaf

case: --dry-run arms and takes out again, and runs nothing
target: loop_calls 3
until: alone
run: blip run --dry-run $LIB/../scripts/calls.blip -p $PID
check: out == ""
expect-stderr: blip: armed 1 probes in
expect-stderr: blip: 0 events, 0 discarded, 0 skipped

case: processes that begin and end, in the order of time with hits
until: alone
run: blip run $LIB/../scripts/lives.blip -- $TARGETS/spawned 3
check: re.search(r"process begins (\d+)/\1 after 0\n(?s:.*)process ends \1/\1 after 4\nwork: 4\n$", out) is not None

case: threads that begin and end, and the command's status
until: alone
run: blip run $LIB/../scripts/lives.blip -- $TARGETS/twenty
expect-exit: 3
check: len(re.findall(r"thread begins", out)) == 20 and len(re.findall(r"thread ends", out)) == 20 and "work: 20" in out

case: without a target, every process that has the file
sh: cp $TARGETS/loop_calls only_for_run_t; mkfifo in; (./only_for_run_t 5 < in > out &); exec 3> in; until grep -q ready out; do sleep 0.05; done;
  blip run $LIB/../scripts/by_file.blip --duration 1s 2> err > said & until grep -q armed err; do sleep 0.05; done;
  echo >&3; wait; exec 3>&-; cat said err
expect: n: 5
expect: 1 process has the files that the script names
expect: 5 events, 0 discarded, 0 skipped

case: samples of CPU time, with names
target: hammer 1
as: root
until: 700ms
run: blip run $LIB/../scripts/profile.blip -p $PID
check: sum(int(n) for n in re.findall(r"samples\[.*\]: (\d+)", out)) > 20 and re.search(r"samples\[\w+\]", out)

case: frames of a process that has gone still have names
until: alone
run: blip run $LIB/../scripts/stack_at_end.blip -- $TARGETS/spawned 3
expect: work < main

case: children that a traced process forks run the same handlers
target: forker 3
run: blip run $LIB/../scripts/tally.blip -p $PID
check: int(re.search(r"n: (\d+)", out)[1]) == summary.events == 60

case: -n NAME --wait waits for a process
sh: cp $TARGETS/loop_calls awaited_run_t; mkfifo in; exec 3<> in;
  blip run $LIB/../scripts/tally.blip -n awaited_run_t --wait --duration 4s > said 2> err 3>&- & blip=$$!;
  until grep -q waiting err; do sleep 0.05; done; ./awaited_run_t 7 < in > out 3>&- & target=$$!; until grep -q armed err; do sleep 0.05; done;
  echo >&3; wait $$blip; kill $$target; cat said err
expect: n: 7
expect: waiting for a process named awaited_run_t

case: -e with --lang, output to a file
sh: blip run -q --lang blocks -e "$$(cat $LIB/../scripts/timer.blip)" -o printed; echo code $$?; cat printed
check: out.splitlines() == ["code 7", "ticks: 3"]

case: a script in standard input, and one that no language takes
sh: blip run -q --lang blocks - < $LIB/../scripts/timer.blip; echo code $$?; blip run -e 'no script' 2>&1; echo code $$?
expect: ticks: 3
expect: code 7
expect: --lang
expect: code 1

case: -l lists what a probe point means, in a file and in a process; -L with variables
target: loop_calls 1
sh: blip run -l "uprobe:$TARGETS/spawned:*work"; blip run -l "uprobe:loop_calls:wor*" -p $PID; blip run -L "uprobe:$TARGETS/spawned:work"
expect-match: ^uprobe:\S*/spawned:work$
expect-match: ^uprobe:\S*loop_calls:work$
expect-match: ^    \S.* \w+$

case: -l says what is not there
until: alone
run: blip run -l "uprobe:$TARGETS/spawned:no_such_function"
error: no_such_function
