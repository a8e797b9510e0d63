# SPDX-License-Identifier: MIT
# Libraries that come and go: probed from the first call on, forgotten when they have gone.
as: both
timeout: 60
state: loose

case: a library is probed from its first call on, by its constructor
target: plug_host 'l0 c0:5 u0' $TARGETS/libplug_a.so
run: blip record -p $PID --function work --function libplug_a:plug_work --context ip -o t
reads:
exact:
check: summary.events == 8 and [e.name for e in events()] == ["plug_work"] * 8
expect-stderr: libplug_a:plug_work: waiting for a library that is not loaded yet
expect-stderr: libplug_a.so: armed 1 probes (target paused

case: a library that comes late is counted
target: plug_host 'l0 c0:50 u0' $TARGETS/libplug_a.so
run: blip count -p $PID --function work --function '*:plug_*'
check: table()["plug_work"] == calls and table()["plug_twice"] == 1 and table()["work"] == 0

case: the events of a library that comes late are shown
target: plug_host 'l0 c0:5 u0' $TARGETS/libplug_a.so
run: blip trace -p $PID --function work --function 'libplug*:plug_twice' --json
check: [e["name"] for e in json_lines()] == ["plug_twice"] and summary.events == 1

case: returns of a library that comes late
target: plug_host 'l0 c0:9 u0' $TARGETS/libplug_a.so
run: blip record -p $PID --function work --return libplug_a:plug_work -o t
reads:
exact:
check: [e.ret for e in events()][2:] == [1, 4, *(3 * i + 1 for i in range(2, 9)), 7]

case: one instruction of a library that comes late, and every instruction of one
target: plug_host 'l0 c0:9 u0' $TARGETS/libplug_a.so
run: blip count -p $PID --function work --probe libplug_a:plug_work+0 --every-instruction libplug_a:plug_twice
check: table()["plug_work+0x0"] == calls and table()["plug_twice+0x0"] == 1

case: exceptions leave a library that comes late
target: plug_host 'l0 c0:100 u0' $TARGETS/libplug_throws.so
state: text fds threads left
run: blip record -p $PID --function work --function libplug_throws:plug_work --return libplug_throws:plug_throw -o t
reads:
check: len(events("plug_work")) == calls and len(events("plug_throw:return")) == calls / 2

case: a library that was there at first goes, and comes again
target: plug_host 'l0 / c0:2 u0 l0 c0:3 / u0' $TARGETS/libplug_a.so
go:
start: blip record -p $PID --function libplug_a:plug_work -o t
go:
end:
reads:
check: summary.events == calls - 2 and summary.skipped == 0 and untouched(PID)
go:

case: another library at the same place is not harmed, and probed itself
target: plug_host 'l0 c0:5 u0 l1 c1:7 u1 l0 c0:9 u0 l1 c1:3' $TARGETS/libplug_a.so $TARGETS/libplug_b.so
state: text left
run: blip record -p $PID --function work --function 'libplug_*:plug_work' -o t
reads:
exact:
check: at0 == at1

case: a library at the place of a probed one is not harmed if it is not probed
target: plug_host 'l0 c0:5 u0 l1 c1:7' $TARGETS/libplug_a.so $TARGETS/libplug_b.so
state: text left
run: blip record -p $PID --function work --function libplug_a:plug_work -o t
reads:
check: at0 == at1 and summary.events == 8

case: threads work while libraries come and go
target: plug_host 't t x0:20 x1:20' $TARGETS/libplug_a.so $TARGETS/libplug_b.so
state: text fds left
run: blip count -p $PID --function work --function '*:plug_work'
check: sum(int(l.split()[-1]) for l in out.splitlines() if l.startswith("plug_work")) == calls == 200 and table()["work"] > 0

case: three hundred times
timeout: 120
target: plug_host 'x0:300' $TARGETS/libplug_a.so
run: blip record -p $PID --function work --function libplug_a:plug_work -o t
reads:
exact:
check: summary.events == calls == 1500 and err.count("armed 1 probes") == 2

case: a child that loads by itself is told of and not harmed
target: plug_host 'f0 l0 c0:4 u0' $TARGETS/libplug_a.so
run: blip record -p $PID --function work --function libplug_a:plug_work -o t
reads:
exact:
expect-stderr: a child of process $PID loads libraries by itself: they are not probed there

case: after a killed blip libraries load, and nothing stays
target: plug_host 'l0 / c0:3 u0 l0 c0:4 u0 l1 c1:3 u1 / l0 c0:3 u0' $TARGETS/libplug_a.so $TARGETS/libplug_b.so
start: blip record -p $PID --function work --function 'libplug_*:plug_work' -o t
go:
wait: print-err libplug_a.so: armed
end: KILL
expect-exit: -9 137
go:
sh: blip clean -p $PID
check: untouched(PID)
go:

case: a module that python3 imports late, from its first call on
program: /usr/bin/python3 $LIB/late_import.py
state: text fds left
run: blip count -p $PID --function PyObject_Repr --function '_bz2*:*' --function 'libbz2*:BZ2_bzCompress*'
check: table()["PyInit__bz2"] == 1 and table()["BZ2_bzCompressInit"] == 1 and table()["BZ2_bzCompressEnd"] == 1

case: nothing but a library that comes later
target: plug_host 'l0 c0:50 u0' $TARGETS/libplug_a.so
run: blip count -p $PID --wait-library --function libplug_a:plug_work
expect-stderr: armed 0 probes
expect-stderr: libplug_a.so: armed 1 probes
check: table()["plug_work"] == calls

case: a module that never comes is an error if there is nothing else to do
target: plug_host 'l0 u0' $TARGETS/libplug_a.so
run: blip count -p $PID --function libplug_a:plug_work
error: libplug_a, no module, is loaded
go:
