# SPDX-License-Identifier: MIT
# Signal handlers that do not simply return into the probe they have interrupted, or that nest.
as: both
timeout: 60

case: a handler leaves probes by siglongjmp
state: text fds left
target: leaves jump 500
run: blip record -p $PID --function work --return work -o t --num-subbuf 2 --subbuf-size 64k
reads:
check: summary.events > 500

case: a handler leaves the probes of every instruction by siglongjmp
state: text fds left
target: leaves jump 500
run: blip count -p $PID --every-instruction work
check: table()["work+0x0"] > 500

case: a handler leaves probes by siglongjmp, without rseq
state: text fds left
inside: env GLIBC_TUNABLES=glibc.pthread.rseq=0
target: leaves jump 500
run: blip record -p $PID --function work --return work -o t --num-subbuf 2 --subbuf-size 64k
reads:
check: summary.events > 500

case: threads end in a handler on top of a probe
state: text fds left
target: leaves exit 150
run: blip record -p $PID --every-instruction work -o t --num-subbuf 2 --subbuf-size 64k
reads:

case: unwinding on top of a probe
state: text fds left
target: leaves unwind 300
run: blip record -p $PID --every-instruction work -o t --num-subbuf 2 --subbuf-size 64k
reads:

case: handlers eight deep on an alternate stack
target: signal_storm 500 8 alternate
run: blip record -p $PID --function work -o t
exact:
check: summary.discarded == 0
run: blip count -p $PID --every-instruction work
check: table()["work+0x0"] == calls

# Signals that come while system calls are made in the target stay on its stack: they must not pile up there.
case: sessions begin and end while handlers nest on an alternate stack
target: signal_storm 8000 8 alternate
go: nowait
until: 10ms
repeat: 10
run: blip count -p $PID --every-instruction work
wait: done

case: a single thread with a storm of signals on its alternate stack is traced or left alone
target: signal_storm 4000 8 alone
go: nowait
launch: blip count -p $PID --function work --duration 10ms
end: alone
expect-exit: 0 1
launch: blip count -p $PID --function work --duration 10ms
end: alone
expect-exit: 0 1
wait: done
run: blip clean -p $PID
expect-exit: 0
