# SPDX-License-Identifier: MIT
# Commands started by blip, from their first instruction to their end.
as: both

case: a function of the program, from its constructor on
until: alone
run: blip count --function work -- $TARGETS/spawned 100
expect: calls=101
check: table()["work"] == 101

case: -c does the same
until: alone
run: blip count --function work -c "$TARGETS/spawned 100"
expect: calls=101
check: table()["work"] == 101

case: the constructor of a library is traced
until: alone
run: blip record -o t --function lib_work --function lib_constructor_work --function before_main --function main
  -- $TARGETS/spawned 10
expect: lib_calls=11
reads:
check: [e.name for e in events()] == ["lib_constructor_work", "lib_work", "before_main", "main"] + ["lib_work"] * 10

case: trace prints the events of a command
until: alone
run: blip trace --function before_main --context reg:rdi -- $TARGETS/spawned 1
expect: before_main
expect: rdi = 0x4d

case: a static program, from its first instruction
until: alone
run: blip record -o t --context reg:rdi --function _start --function work --function main -- $TARGETS/spawned_static 20
expect: calls=21
reads:
check: [e.name for e in events()] == ["_start", "work", "main"] + ["work"] * 20
check: [e.rdi for e in events("work")] == [77] + list(range(20))

case: a static-pie program, from its first instruction
until: alone
run: blip record -o t --context reg:rdi --function _start --function work --function main -- $TARGETS/spawned_static_pie 20
expect: calls=21
reads:
check: [e.name for e in events()] == ["_start", "work", "main"] + ["work"] * 20
check: [e.rdi for e in events("work")] == [77] + list(range(20))

case: counts of a static program add up over its start
until: alone
run: blip count --function work --function _start --function main -- $TARGETS/spawned_static 20
check: table() == {"work": 21, "_start": 1, "main": 1}

case: a musl program and its constructor
needs: musl-gcc
until: alone
run: blip count --function work --function main -- $TARGETS/spawned_musl 20
expect: calls=21
check: (table()["work"], table()["main"]) == (21, 1)

case: a static musl program
needs: musl-gcc
until: alone
run: blip count --function work --function main --function _start_c -- $TARGETS/spawned_musl_static 20
expect: calls=21
check: (table()["work"], table()["main"], table()["_start_c"]) == (21, 1, 1)

case: a program at a fixed address
until: alone
run: blip count --function work --function main -- $TARGETS/spawned_nopie 20
check: (table()["work"], table()["main"]) == (21, 1)

case: every malloc, from the constructor of a library on
until: alone
run: blip count --function '*:mall*' -- $TARGETS/spawned 50
check: table()["malloc"] == int(re.search(r"mallocs=(\d+)", out)[1])
check: table()["malloc"] > 50

case: ld.so itself, before there is anything else
until: alone
run: blip count --function ld-linux*:_dl_* -- $TARGETS/spawned 1
check: sum(table().values()) > 0

case: what the loader does is recorded with its data, all of it
until: alone
run: blip record -o t --function 'ld-linux*:*' --args -- $TARGETS/spawned 1
reads:
check: summary.discarded == 0 and summary.events == len(events()) > 600

case: a larger buffer holds more of it, as the advice says
until: alone
run: blip record -o t --function 'ld-linux*:*' --args --num-subbuf 2 --subbuf-size 4k -- $TARGETS/spawned 1
check: summary.discarded > 0
expect-stderr: --subbuf-size 2M would have been enough
until: alone
run: blip record -o t2 --function 'ld-linux*:*' --args --num-subbuf 2 --subbuf-size 2M -- $TARGETS/spawned 1
check: summary.discarded == 0

case: events before main are in the trace once
until: alone
run: blip record -o t --function ld-linux*:_dl_debug_state -- $TARGETS/spawned 1
reads:
check: len(events("_dl_debug_state")) == 2

case: a static program whose constructor waits for a thread it has made
until: alone
run: blip record -o t --context tid --function work --function main -- $TARGETS/early_threads_static 20
expect: calls=21
reads:
check: [e.name for e in events()] == ["work", "main"] + ["work"] * 20
check: len({e.vtid for e in events()}) == 3

case: a dynamic program whose constructor waits for a thread it has made
until: alone
run: blip count --function work --function main -- $TARGETS/early_threads 20
expect: calls=21
check: table() == {"work": 21, "main": 1}

case: a killed blip leaves a static program with threads running
sh: (blip record -q -o t --function work -- $TARGETS/early_threads_static 20 stay > out.txt & echo $! > pid.txt);
  while ! grep -q calls=21 out.txt; do sleep 0.01; done;
  command=$(cat /proc/$(cat pid.txt)/task/*/children | tr -d ' '); kill -KILL $(cat pid.txt);
  while [ -e /proc/$(cat pid.txt) ]; do sleep 0.01; done; sleep 0.1; kill -TERM $$command && echo lived on
expect: lived on

# ---- status and signals ----

case: the exit status is passed on
until: alone
run: blip count -q --function work -- $TARGETS/spawned 1 3
expect-exit: 3
until: alone
run: blip count -q --function work -- $TARGETS/spawned 1 127
expect-exit: 127
until: alone
run: blip count -q --function work -- $TARGETS/spawned 1 0
expect-exit: 0

case: death by signal is passed on
sh: blip count -q --function libc.so.6:malloc -- sh -c 'kill -USR1 $$$$'; echo status=$?
expect: status=138
sh: blip count -q --function libc.so.6:malloc -- sh -c 'kill -SEGV $$$$'; echo status=$?
expect: status=139
sh: blip count -q --function libc.so.6:malloc -- sh -c 'kill -KILL $$$$'; echo status=$?
expect: status=137

case: a command that dies before its libraries are there tells its own error
sh: cp $TARGETS/spawned lonely && blip count --function work -- ./lonely; echo status=$?
expect: status=127
expect-stderr: libspawned.so.1

case: SIGTERM to blip is for the command
start: blip record -o t --function libc.so.6:malloc -- sh -c 'trap "echo got it; exit 9" TERM; echo armed; while :; do sleep 0.01; done'
wait: print armed
signal: TERM blip
end: alone
expect-exit: 9
expect: got it
reads:

case: SIGINT to blip is for the command
start: blip record -o t --function libc.so.6:malloc -- sh -c 'trap "exit 8" INT; echo armed; while :; do sleep 0.01; done'
wait: print armed
end: INT
expect-exit: 8
reads:

case: a killed blip leaves a running command
sh: mkfifo go; (blip record -q -o t --function libc.so.6:malloc -- sh -c 'echo up > up.txt; read x < go; echo "$x" > out.txt' &
  echo $! > pid.txt); while [ ! -s up.txt ]; do sleep 0.01; done; kill -KILL $(cat pid.txt);
  echo alive > go; while [ ! -s out.txt ]; do sleep 0.01; done; cat out.txt
expect: alive

case: --duration ends the tracing, not the command
until: alone
run: blip record -o t --duration 50ms --function libc.so.6:malloc -- sh -c 'sleep 0.4; echo end; exit 6'
expect-exit: 6
expect: end
reads:

case: --max-events ends the tracing, not the command
until: alone
run: blip record -o t --max-events 5 --function work -- $TARGETS/spawned 1000 6
expect-exit: 6
expect: calls=1001
reads:
check: len(events()) == 5

case: another program executed by the command is waited for
until: alone
run: blip record -o t --function libc.so.6:malloc -- env sh -c 'sleep 0.1; exit 5'
expect-exit: 5
reads:

# ---- the terminal ----

case: a command reads from the terminal
sh: python3 $LIB/terminal.py "see armed" "type hello" "see hello" "key D" -- blip record -o t --function libc.so.6:malloc -- cat
expect: hello
expect: exit 0

case: a command is in the foreground of the terminal
sh: python3 $LIB/terminal.py -- blip record -q -o t --function libc.so.6:malloc -- python3 -c
  "import os; print('front', os.tcgetpgrp(0) == os.getpgrp(), os.isatty(1), os.getpgrp() == os.getpgid(os.getppid()))"
expect: front True True True

case: Ctrl-C ends the command and with it blip
sh: python3 $LIB/terminal.py "see ready" "type x" "see done" "key C" -- blip record -o t --function work -- $TARGETS/loop_calls 5
expect: signal 2
expect: blip: 5 events, 0 discarded, 0 skipped; trace in t

case: a command that handles Ctrl-C is waited for
sh: python3 $LIB/terminal.py "see up" "key C" "see caught" -- blip record -o t --function libc.so.6:malloc -- sh -c
  'trap "echo caught; n=1" INT; echo up; while [ -z "$$n" ]; do sleep 0.02; done; exit 3'
expect: caught
expect: exit 3

case: Ctrl-Z and fg
sh: python3 $LIB/terminal.py "see up" "key Z" "stopped" "fg" "type go" "see got go" -- blip record -o t --function libc.so.6:malloc
  -- sh -c 'echo up; read x; echo "got $x"; exit 4'
expect: stopped
expect: exit 4

case: a signal to the whole group
sh: python3 $LIB/terminal.py "see up" "kill TERM" -- blip record -o t --function libc.so.6:malloc -- sh -c 'echo up; sleep 20; sleep 20'
expect: signal 15

# ---- what the command sees ----

case: stdin, stdout and stderr are the command's
sh: printf 'a\nb\n' | blip record -q -o t --function libc.so.6:malloc -- sh -c 'cat; echo err >&2' 2> err.txt | tac; cat err.txt
expect-match: b\na\nerr

case: descriptors, environment, limits and signals are as without blip
sh: for what in "ls /proc/self/fd" "env -u _" "cat /proc/self/limits" "grep -E Sig[PBIC]|Shd|NSpgid|NSsid|Umask|Tracer|Seccomp: /proc/self/status";
  do $$what > a; blip record -q -o t.$$RANDOM --function libc.so.6:malloc -- $$what > b; diff a b || exit 1; done; echo same
expect: same

case: ignored signals stay ignored
sh: trap '' INT QUIT HUP CHLD PIPE; grep -E 'Sig[PBIC]' /proc/self/status > a;
  blip record -q -o t --function libc.so.6:malloc -- grep -E 'Sig[PBIC]' /proc/self/status > b; diff a b && echo same
expect: same

case: answers of programs are the same
timeout: 60
sh: seq 1 200000 > data; ran() { blip record -q -o t.$$RANDOM --function '*:mall*' --function '*:mem*' --function '*:str*' -- "$$@"; };
  ls -lR /etc > a 2>&1; ran ls -lR /etc > b 2>&1; cmp a b || exit 1;
  gzip -nc data > a; ran gzip -nc data > b; cmp a b || exit 1;
  perl -e 'print sort map { $$_ * 7 % 1000003 . "\n" } 1..50000' > a; ran perl -e 'print sort map { $$_ * 7 % 1000003 . "\n" } 1..50000' > b; cmp a b || exit 1;
  python3 -c 'import json; print(json.dumps([str(i) * 3 for i in range(50000)]))' > a;
  ran python3 -c 'import json; print(json.dumps([str(i) * 3 for i in range(50000)]))' > b; cmp a b || exit 1; echo same
expect: same

# ---- what cannot be run ----

case: nothing matches: the command is not started
until: alone
run: blip record -o t --function no_such_function -- sh -c 'touch ran'
error: no_such_function
sh: test ! -e ran

case: a missing command
until: alone
run: blip count --function main -c no-such-command
error: no-such-command, PATH

case: a missing file
until: alone
run: blip count --function main -- /no/such/file
error: no such command, /no/such/file

case: a file that is not executable
sh: echo text > plain
until: alone
run: blip count --function main -- ./plain
error: ./plain, not executable

case: a directory
until: alone
run: blip count --function main -- /etc
error: /etc, directory

case: a script is run by its interpreter, and blip says so
sh: printf '#!/bin/sh\nexit 4\n' > script; chmod +x script
until: alone
run: blip count --function libc.so.6:malloc -- ./script
expect-exit: 4
expect-stderr: ./script is a script: its interpreter /bin/sh is traced

case: a script whose interpreter is missing
sh: printf '#!/no/such/interpreter\n' > script; chmod +x script
until: alone
run: blip count --function main -- ./script
error: script, interpreter, /no/such/interpreter

case: a 32-bit program
until: alone
run: blip count --function main -- $TARGETS/loop_32
error: 32-bit

case: a set-uid program of another user runs without its rights
as: user
until: alone
run: blip count --function libc.so.6:malloc -- /usr/bin/su --version
expect-stderr: set-uid
expect-exit: 0

# ---- programs without symbols ----

case: main of a stripped program, and of ls
until: alone
run: blip count --function main --function _start -- $TARGETS/spawned_stripped 10
expect: calls=11
check: (table()["main"], table()["_start"]) == (1, 1)
until: alone
run: blip count --function main -c "ls -l /etc/hostname"
check: table()["main"] == 1

case: an IFUNC of a static program, which is chosen while it starts
until: alone
run: blip count --function strlen --function work -- $TARGETS/spawned_static 10
expect: calls=11
check: table()["work"] == 11
