# SPDX-License-Identifier: MIT
# Many threads, many probes, little CPU, little memory, outputs that fail: counts stay exact, the target unharmed.
as: both
timeout: 120

case: a thousand threads, counted
target: threads 1000 100
run: blip count -p $PID --function work
check: table()["work"] == calls

case: a thousand threads, recorded with their tids
target: threads 1000 20
run: blip record -p $PID --function work --context tid -o t
exact:
check: len({e.vtid for e in events()}) == 1000

case: five sessions on four hundred threads in calls that a stop could end with EINTR
target: waiters 400 10
until: done
repeat: 5
run: blip count -p $PID --function work
check: table()["work"] == calls
