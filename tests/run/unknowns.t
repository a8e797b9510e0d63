# SPDX-License-Identifier: MIT
# Values that are not known at a place are shown as such, with the reason. Nothing else is shown in their place.
as: both
target: unknowns

case: a library's variable of each thread
run: blip trace -p $PID --function in_library --capture of_thread --max-events 1
expect-match: of_thread = <thread-local in a library>
run: blip trace -p $PID --function in_library --capture of_thread --max-events 1 --json
check: [(e["captures"], e["missing"]) for e in json_lines()] == [({"of_thread": None}, {"/captures/of_thread": "thread-local in a library"})]
run: blip trace -p $PID --function in_library --filter 'of_thread == 7'
usage: it is thread-local in a library

case: the executable's own
run: blip record -p $PID --function frame --capture own_of_thread -o t
reads:
check: [e.own_of_thread for e in events()][:3] == [3, 4, 5]

case: a frame before it is there
run: blip trace -p $PID --function frame --args --locals --max-events 1
expect-match: n = 1, room = <not set yet>
run: blip trace -p $PID --function frame --filter 'room[1] == 1'
usage: it is not set yet

case: what is returned in a register that pads leave alone
run: blip trace -p $PID --return wide --capture '$return, entry(n)' --max-events 1
expect-match: \$return = <in st\(0\)>, entry\(n\) = 1
