# SPDX-License-Identifier: MIT
# blip dies, or a system call of its fails, at every moment of attach and detach; the target never notices, and the next
# blip puts everything right. strace decides the moment: no luck needed.
needs: strace
timeout: 280

case: SIGKILL at each ptrace call
target: hammer 2
sh: for n in $$(seq 1 90); do strace -f -qq -o /dev/null -e trace=ptrace -e inject=ptrace:signal=KILL:when=$$n
  blip count -p $PID --function 'tiny_*' --duration 10ms >/dev/null 2>&1; grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
until: 50ms
run: blip count -p $PID --function tiny_*

case: SIGKILL at each ptrace call, target asleep in read
target: loop_calls 100
sh: for n in $$(seq 1 90); do strace -f -qq -o /dev/null -e trace=ptrace -e inject=ptrace:signal=KILL:when=$$n
  blip record -p $PID --function work --duration 10ms -o t$$n >/dev/null 2>&1; grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
run: blip count -p $PID --function work
expect: work 100

case: a remote call of a killed blip is made when the next blip has looked already
sh: $LIB/late_calls.py $TARGETS/loop_calls 10 -- blip record --function work --duration 10ms
check: int(out.split("=")[1]) >= 3

case: SIGKILL at each write to the target's memory
target: hammer 2
sh: for n in $$(seq 1 60); do strace -f -qq -o /dev/null -e trace=pwrite64,process_vm_writev
  -e inject=pwrite64,process_vm_writev:signal=KILL:when=$$n
  blip record -p $PID --function 'tiny_*' --duration 10ms >/dev/null 2>&1; grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
until: 50ms
run: blip count -p $PID --function tiny_*

case: each write to the target's memory fails once with EIO
target: hammer 2
sh: for n in $$(seq 1 40); do strace -f -qq -o /dev/null -e trace=pwrite64,process_vm_writev
  -e inject=pwrite64,process_vm_writev:error=EIO:when=$$n
  timeout -s KILL 10 blip count -p $PID --function 'tiny_*' --duration 10ms >/dev/null 2>&1; grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
until: 50ms
run: blip count -p $PID --function tiny_*

case: SIGTERM at each moment
target: hammer 2
sh: for n in $$(seq 4 4 120); do timeout -s TERM 0.$$(printf %03d $$n) blip record -p $PID --function 'tiny_*' -o t$$n >/dev/null
  2>>terms; grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
unharmed:

case: SIGKILL at each ptrace call of blip clean
target: hammer 2
sh: for n in $$(seq 1 2 60); do rm -f armed; blip count -p $PID --function 'tiny_*' >/dev/null 2>armed & b=$$!;
  until grep -qs armed armed || ! kill -0 $$b 2>/dev/null; do sleep 0.01; done; kill -KILL $$b; wait $$b;
  strace -f -qq -o /dev/null -e trace=ptrace -e inject=ptrace:signal=KILL:when=$$n blip clean -q -p $PID >/dev/null 2>&1;
  grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
run: blip clean -p $PID
unharmed:

case: SIGKILL at each write to the target's memory by blip clean
target: hammer 2
sh: for n in $$(seq 1 12); do rm -f armed; blip count -p $PID --function 'tiny_*' >/dev/null 2>armed & b=$$!;
  until grep -qs armed armed || ! kill -0 $$b 2>/dev/null; do sleep 0.01; done; kill -KILL $$b; wait $$b;
  strace -f -qq -o /dev/null -e trace=pwrite64,process_vm_writev -e inject=pwrite64,process_vm_writev:signal=KILL:when=$$n
  blip clean -q -p $PID >/dev/null 2>&1;
  grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
run: blip clean -p $PID
unharmed:

case: each read of the target's memory by blip clean fails once with EIO
target: hammer 1
sh: for n in $$(seq 3 24); do rm -f armed; blip count -p $PID --function 'tiny_*' >/dev/null 2>armed & b=$$!;
  until grep -qs armed armed || ! kill -0 $$b 2>/dev/null; do sleep 0.01; done; kill -KILL $$b; wait $$b;
  strace -f -qq -o /dev/null -e trace=pread64 -e inject=pread64:error=EIO:when=$$n blip clean -q -p $PID >/dev/null 2>&1;
  blip clean -q -p $PID || { echo not cleaned at $$n; exit 9; }; done; exit 0
unharmed:

case: each ptrace call fails once with EIO, target asleep in epoll_wait
target: event_loop
sh: for n in $$(seq 1 60); do strace -f -qq -o /dev/null -e trace=ptrace -e inject=ptrace:error=EIO:when=$$n
  timeout -s KILL 10 blip count -p $PID --function work --duration 5ms >/dev/null 2>&1; grep -q '^State:.[^Z]' /proc/$PID/status || { echo the target ended at $$n; exit 9; }; done; exit 0
run: blip count -p $PID --function work
expect: work 1

case: each directory that blip reads fails once with EIO
target: loop_calls 10
sh: for n in $$(seq 1 12); do strace -f -qq -o /dev/null -e trace=getdents64 -e inject=getdents64:error=EIO:when=$$n
  timeout -s KILL 10 blip count -p $PID --function work --duration 5ms >/dev/null 2>said; c=$$?; test $$c -le 1 || { echo exit $$c at $$n; cat said; exit 9; }; done; exit 0
run: blip count -p $PID --function work
expect: work 10

case: each directory that blip clean reads fails once with EIO, and what stays is told
target: loop_calls 10
sh: for n in $$(seq 1 8); do rm -f armed; blip count -p $PID --function work >/dev/null 2>armed & b=$$!;
  until grep -qs armed armed || ! kill -0 $$b 2>/dev/null; do sleep 0.01; done; kill -KILL $$b; wait $$b;
  strace -f -qq -o /dev/null -e trace=getdents64 -e inject=getdents64:error=EIO:when=$$n blip clean -q -p $PID >/dev/null 2>&1; c=$$?;
  grep -q memfd:blip /proc/$PID/maps && test $$c -eq 0 && { echo silent at $$n; exit 9; };
  blip clean -q -p $PID || { echo not cleaned at $$n; exit 9; }; done; exit 0
unharmed:

case: each thread that blip starts is refused once, and all of them
target: loop_calls 10
sh: for n in 1 2 3 4 5 6 1+; do strace -f -qq -o /dev/null -e trace=clone3 -e inject=clone3:error=EAGAIN:when=$$n
  timeout -s KILL 10 blip count -p $PID --function work --duration 5ms >/dev/null 2>said || { echo failed at $$n; cat said; exit 9; }; done; exit 0
run: blip count -p $PID --function work
expect: work 10
