# SPDX-License-Identifier: MIT
# How long a process is stopped, --max-pause: what blip says of its stops is held against what the program has seen by the clock.
as: both
timeout: 200

case: a thousand probes, no pause longer than asked
sh: $LIB/pauses.py 8 0 60 $TARGETS/paused 1 -- blip count --function 'many_00*'

case: on a busy machine
sh: $LIB/pauses.py 8 6 100 $TARGETS/paused 1 -- blip count --function 'many_00*'

case: many threads, and returns
sh: $LIB/pauses.py 4 0 400 $TARGETS/paused 12 -- blip record --function 'many_00*' --return 'many_000*' -o t@

case: several short stops arm all of it
sh: $LIB/pauses.py 3 0 60 $TARGETS/paused 2 -- blip count --function 'many_*'

case: no stop is short enough: nothing is armed, and that is an error
target: paused 2
state: text maps left
sh: blip count -p $PID --function 'many_00*' --max-pause 0.0001ms
error: $PID, --max-pause, nothing was armed
go:

case: libraries that come later are probed within it
target: plug_host 'l0 c0:50 u0 l1 c1:50 u1' $TARGETS/libplug_a.so $TARGETS/libplug_b.so
state: loose
run: blip count -v -p $PID --function work --function '*:plug_*' --max-pause 60
check: all(float(ms) <= 60 for ms in re.findall(r"target paused ([\d.]+) ms", err)) and len(re.findall("libplug_..so: armed", err)) == 2
expect: plug_work libplug_a.so 53
expect: plug_work libplug_b.so 53

case: large buffers make no stop long, neither the first nor the last
target: loop_calls 1000
until: 2s
run: blip record -v -p $PID --function work --subbuf-size 64M --max-pause 20 -o t
check: [float(ms) <= 20 for ms in re.findall(r"target paused ([\d.]+) ms", err)] == [True, True]
go:

case: what is not drained when the probes go stays in large buffers
target: loop_calls 100000
start: blip record -p $PID --function work --context reg:rdi --subbuf-size 4M -o t
signal: STOP blip
go:
signal: INT blip
signal: CONT blip
end: alone
exact:
check: summary.discarded == 0 and [e.rdi for e in events()] == list(range(100000))

case: children that still work when their parent is left, large buffers
target: forker 4
run: blip record -p $PID --function work --context pid --subbuf-size 4M -o t
exact:
check: summary.discarded == 0
