# SPDX-License-Identifier: MIT
# Nobody reads what blip writes, or there is nowhere to write to: blip leaves its target on time all the same.
as: both

case: random descriptors 0 to 2, random ends
timeout: 300
sh: $LIB/random_outputs.py $$(command -v blip) $TARGETS/hammer 12
expect-exit: 0

case: closed stderr
target: loop_calls 100
sh: blip record -p $PID --function work -o t --duration 200ms 2>&-
expect-exit: 0
reads: t

case: what is closed is closed in the command too
sh: sh -c 'ls /proc/self/fd > plain' 0<&- 2>&-; blip count -q --function main -- sh -c 'ls /proc/self/fd > traced' 0<&- 2>&-; cmp plain traced
expect-exit: 0

case: a reader that comes when the target has been left gets everything
target: hammer 1
sh: blip trace -p $PID --function 'tiny_*' --max-events 20000 2> said |
  (until grep -q memfd:blip /proc/$PID/maps; do sleep 0.01; done; while grep -q memfd:blip /proc/$PID/maps; do sleep 0.01; done; cat > out);
  cat said; wc -l < out
expect: 20000
expect: 20000 events

case: a terminal is stopped with Ctrl-S: --duration ends the trace, Ctrl-Q shows the rest
target: hammer 1
sh: $LIB/terminal.py 'see tiny' 'key S' 'left $PID' 'key Q' -- blip trace -p $PID --function 'tiny_*' --num-subbuf 2 --subbuf-size 4k --duration 1s > shown; tail -n 1 shown
expect: exit 0
