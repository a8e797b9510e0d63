# SPDX-License-Identifier: MIT
# Something happens to the target while blip stands at any of its system calls: no luck needed, strace stops it there.
needs: strace
timeout: 120

case: the target is killed
sh: $LIB/at_every_call.py kill ptrace 3 $TARGETS/loop_calls 10 -- blip count --function work --duration 10ms
check: int(out.split("=")[1]) >= 5

case: the target is killed while its files are read
sh: $LIB/at_every_call.py kill openat 9 $TARGETS/loop_calls 10 -- blip count --function work --duration 10ms
check: int(out.split("=")[1]) >= 5

case: the target exits
sh: $LIB/at_every_call.py exit ptrace 3 $TARGETS/loop_calls 10 -- blip count --function work --duration 10ms
check: int(out.split("=")[1]) >= 5

case: the target executes another program
sh: $LIB/at_every_call.py round ptrace 3 $TARGETS/exec_self 10 -- blip count --function work --duration 10ms
check: int(out.split("=")[1]) >= 5

case: the target executes another program while memory is written
sh: $LIB/at_every_call.py round pwrite64 1 $TARGETS/exec_self 10 -- blip count --function work --duration 10ms
check: int(out.split("=")[1]) >= 2

case: the target forks
sh: $LIB/at_every_call.py round ptrace 3 $TARGETS/fork_lives -- blip count --function work --duration 10ms
check: int(out.split("=")[1]) >= 5

case: another process has got the pid
as: root
needs: root strace unshare
sh: exec timeout -s KILL 100 unshare -pf --kill-child=KILL --mount-proc
  $LIB/at_every_call.py reuse openat 6 $TARGETS/loop_calls 10 -- blip count --function work --duration 10ms
check: int(out.split("=")[1]) >= 5
