# SPDX-License-Identifier: MIT
# Targets that do something to blip's memory, or to its jumps: blip comes to an end, what is the target's stays, and its code is as it was.
as: both
timeout: 60

case: the target changes blip's memory
each: unmap-pads cover-pads hide-pads move-pads unmap-data cover-data hide-data move-data scribble-data
  tamper-data tamper-pads
target: fights $EACH
state: text fds
start: blip record -p $PID --function work -o t
go:
end:
expect-exit: 0 1
go:

case: the target puts its own code back
target: fights restore
state: text fds
start: blip record -p $PID --function work -o t
go:
go:
end:
go:

case: memory that only looks like blip's
each: zeros random counts sites
target: forged $EACH
state: text fds threads
run: blip count -p $PID --function work
expect-exit: 0 1
run: blip clean -p $PID
expect-exit: 0 1
run: blip clean -p $PID --save saved
expect-exit: 0 1
go:
