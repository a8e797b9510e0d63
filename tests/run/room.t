# SPDX-License-Identifier: MIT
# Little room: at the end of a stack, of the address space, of what the kernel allows.
as: both
timeout: 60

case: half a kilobyte of stack is enough, at every alignment
target: tight_stack 512
run: blip record -p $PID --function tiny_lea --context tid,comm,regs -o t
exact:
run: blip count -p $PID --every-instruction tiny_lea
check: table()["tiny_lea+0x0"] == 1600
run: blip record -p $PID --return tiny_lea --context tid,comm,regs -o t2
exact:

case: half a kilobyte of stack is enough without rseq
inside: env GLIBC_TUNABLES=glibc.pthread.rseq=0
target: tight_stack 512
run: blip record -p $PID --function tiny_lea --context tid,comm,regs -o t
exact:
run: blip record -p $PID --return tiny_lea --context tid,comm,regs -o t2
exact:

case: one kilobyte of stack is enough for a backtrace
target: tight_stack 1024
run: blip record -p $PID --function tiny_lea --context tid,comm,regs,backtrace -o t
exact:
run: blip record -p $PID --return tiny_lea --context tid,comm,regs,backtrace -o t2
exact:

case: one kilobyte of stack is enough for what is collected from many places
target: tight_stack 1024
run: blip record -p $PID --function tiny_lea --context tid,comm,regs --capture some_texts -o t
exact:
sh: blip view t
expect-match: some_texts = \[ "one", NULL, "three" \]
run: blip record -p $PID --return tiny_lea --context tid,comm,regs --capture some_texts -o t2
exact:

case: rsp is no stack pointer: nothing inside such a function is probed
target: scratch_rsp 500
run: blip count -v -p $PID --every-instruction scratch*
expect-exit: 1
expect-stderr: the function calculates with rsp as with any other register, and a pad needs a stack
run: blip count -p $PID --probe scratch_always+5
error: the function calculates with rsp as with any other register, and a pad needs a stack
run: blip record -p $PID --function scratch -o t
exact:
until: 20ms
repeat: 20
run: blip count -p $PID --function scratch_always
run: blip count -v -p $PID --return scratch
expect-exit: 0 1
go:

case: no mapping more is allowed
target: many_maps 0
run: blip record -p $PID --function work -o t
error: $PID, map
check: untouched(PID)
sh: test ! -e t
go:

case: few mappings more are allowed
as: user
each: 2 6
target: many_maps $EACH
run: blip record -p $PID --function work -o t
expect-exit: 0 1
unharmed:
go:

case: no page is free near the code
target: walled
run: blip count -v -p $PID --function work
expect-exit: 0 1
unharmed:
go:

case: addresses that are not random, a text that is locked
inside: setarch -R
target: loop_calls 100
sh: prlimit --pid $PID --data=50000000 --memlock=65536
run: blip record -p $PID --function work -o t
exact:

case: code on a tmpfs and on an overlay
each: tmpfs overlay
as: root
needs: root unshare
prepare: mkdir m low up; cp $TARGETS/loop_calls low/
inside: unshare -m bash -c 'mount -t tmpfs none up && mkdir up/u up/w && { test $EACH = tmpfs && mount -t tmpfs none m && cp low/loop_calls m/ ||
  mount -t overlay -o lowerdir=low,upperdir=up/u,workdir=up/w none m; } && exec m/loop_calls 100' --
program: $DIR/low/loop_calls 100
run: blip record -p $PID --function work -o t
exact:

case: a thread of the kernel's among the threads
target: uring
state: maps text fds left
run: blip record -p $PID --function work -o t
exact:
until: 5ms
repeat: 5
run: blip count -p $PID --function work

case: blip has a small stack, little time
target: loop_calls 100
run: prlimit --stack=262144 blip count -p $PID --function work
expect: work 100
launch: prlimit --cpu=1 blip count -p $PID --function work
wait: armed
end:
unharmed:
