# SPDX-License-Identifier: MIT
# A program with 24 MB of code and hardly a name, as chromium is. blip's memory is bounded: 200 MB and twice the code it
# looks at, here less than 250,000 KiB.
prepare: sh $LIB/large_library.sh
program: env LD_PRELOAD=$DIR/liblarge.so $TARGETS/loop_calls 100

case: arguments of a program with few names
start: prlimit --as=4000000000 blip record -p $PID --function work --args -o t
go:
sh: awk '/VmHWM/ {print ($$2 < 250000) ? "bounded" : $$2}' /proc/$BLIP_PID/status
expect: bounded
end: INT
reads: t
exact:

case: stacks of a program with few names
start: prlimit --as=4000000000 blip record -p $PID --function work --context backtrace -o t
go:
sh: awk '/VmHWM/ {print ($$2 < 250000) ? "bounded" : $$2}' /proc/$BLIP_PID/status
expect: bounded
end: INT
reads: t
exact:

case: entries and returns of everything in it
start: prlimit --as=4000000000 blip count -v -p $PID --function work --function liblarge.so:* --return liblarge.so:* --return work
go:
sh: awk '/VmHWM/ {print ($$2 < 250000) ? "bounded" : $$2}' /proc/$BLIP_PID/status
expect: bounded
end: INT
expect: work 100
expect-stderr: its code is too large to be followed

case: an instruction of it
start: prlimit --as=4000000000 blip count -p $PID --probe large_begin+19000004 --function work
go:
sh: awk '/VmHWM/ {print ($$2 < 250000) ? "bounded" : $$2}' /proc/$BLIP_PID/status
expect: bounded
end: INT
expect: work 100

case: all instructions of it
run: prlimit --as=4000000000 blip count -p $PID --every-instruction liblarge.so:*
usage: 7578945 instructions match, say --max-probes

case: what can be probed in it
sh: bash -c 'ulimit -v 4000000; blip list $DIR/liblarge.so'
expect: large_begin

case: SIGINT while it is planned
launch: blip record -p $PID --every-instruction liblarge.so:* -o t
sh: until grep -Eq 'SigCgt:.*[2367abef]$$' /proc/$BLIP_PID/status; do :; done; kill -INT $BLIP_PID
end: alone
expect-exit: 0
expect-stderr: stopped before any probe was armed
sh: test ! -e t && ! grep blip /proc/$PID/maps

case: SIGTERM while it is planned
launch: blip trace -p $PID --every-instruction liblarge.so:*
sh: until grep -Eq 'SigCgt:.*[2367abef]$$' /proc/$BLIP_PID/status; do :; done; kill -TERM $BLIP_PID
end: alone
expect-exit: 0
expect-stderr: stopped before any probe was armed
sh: ! grep blip /proc/$PID/maps
