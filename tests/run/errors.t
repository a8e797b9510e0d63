# SPDX-License-Identifier: MIT
# Bad input: a clear line, the right exit code, the target untouched.

case: no such process
as: both
run: blip record -p 4194000 --function work -o t
error: 4194000, no
sh: test ! -e t

case: a pid that is no number
run: blip record -p twelve --function work
expect-exit: 2
expect-stderr: twelve

case: a negative pid
run: blip record -p -5 --function work
expect-exit: 2

case: pid zero
run: blip record -p 0 --function work
expect-exit: 2

case: blip cannot be its own target
sh: exec blip record -p $$$$ --function main -o t --duration 100ms
error: itself

case: init
as: both
run: blip record -p 1 --function main -o t
error: process 1 is init, --allow-init

case: an ancestor of blip
as: both
sh: bash -c 'blip record -p $$PPID --function main -o t; exit $$?'
error: ancestor, from elsewhere

case: a kernel thread
as: both
run: blip record -p 2 --function main -o t
error: process 2 is a kernel thread

case: an executable that its user may run but not read
as: user
needs: root
prepare: cp $TARGETS/loop_calls secret; chown 0:0 secret; chmod 711 secret; mkdir in; mv secret in/
program: $DIR/in/secret 10
run: blip record -p $PID --function work -o t
error: $PID, in/secret, execute but not read

case: an executable that its user may run but not read, traced by root
as: root
target-as: user
prepare: mkdir in; cp $TARGETS/loop_calls in/secret; chmod 711 in/secret
program: $DIR/in/secret 10
run: blip count -p $PID --function work
expect: work 10

case: another user's process
as: user
target-as: root
target: loop_calls 10
run: blip record -p $PID --function work -o t
error: $PID, root

case: a zombie
as: both
target: zombie
sh: true
run: blip record -p $zombie --function main -o t
error: $zombie, zombie

case: a 32-bit process
as: both
target: loop_32 10
run: blip record -p $PID --function work -o t
error: $PID, 32-bit

case: a thread that is not a process
target: threads 2 10
run: blip record -p $tid0 --function work -o t
usage: $tid0, $PID

case: a process traced by gdb, which is named
needs: gdb
as: root
target: loop_calls 10
state: maps text fds left
helper: gdb -q -nx -batch -p $PID -ex "shell sleep 20"
wait: traced
run: blip record -p $PID --function work -o t
error: $PID, gdb
signal: KILL helper
wait: ended helper

case: the output directory exists and is not empty
target: loop_calls 10
as: both
sh: mkdir t; echo keep > t/file
run: blip record -p $PID --function work -o t
usage: t, not empty
sh: cat t/file
expect: keep

case: the output is a file
target: loop_calls 10
sh: echo keep > t
run: blip record -p $PID --function work -o t
usage: t, not a directory
sh: cat t
expect: keep

case: the output directory is not writable
target: loop_calls 10
as: user
needs: root
run: blip record -p $PID --function work -o /proc/t
error: /proc/t

case: the output's parent is not there
target: loop_calls 10
run: blip record -p $PID --function work -o no/where/t
error: no/where

case: the output is a symbolic link to a directory with a trace
target: loop_calls 10
run: blip record -p $PID --function work -o t
go:
sh: ln -s t link
run: blip record -p $PID --function work -o link
usage: link

case: no probe is a usage error
target: loop_calls 10
run: blip record -p $PID -o t
expect-exit: 2
expect-stderr: --function

case: no target is a usage error
run: blip record --function work -o t
expect-exit: 2
expect-stderr: -p

case: an unknown option is a usage error
run: blip record --zork
expect-exit: 2
expect-stderr: --zork

case: an unknown command is a usage error
run: blip zork
expect-exit: 2
expect-stderr: zork

case: a bad duration is a usage error
target: loop_calls 10
run: blip record -p $PID --function work --duration soon -o t
expect-exit: 2
expect-stderr: soon

case: a bad sub-buffer size is a usage error
target: loop_calls 10
run: blip record -p $PID --function work --subbuf-size 5x -o t
expect-exit: 2

case: more probes than --max-probes
target: many
run: blip count -p $PID --function many_* --max-probes 100
usage: --max-probes

case: the binary was replaced on disk while it ran
target: loop_calls 10
sh: cp loop_calls new && mv new loop_calls && printf x >> loop_calls
run: blip count -p $PID --function work
expect: work 10
state: maps fds threads left

case: a thread in vfork is waited for, then the attach fails; later it works
as: both
target: vfork_waits
run: blip count -p $PID --function work
error: $PID, vfork
unharmed:
go:
run: blip count -p $PID --function work
expect: work 1
