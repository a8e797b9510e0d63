# SPDX-License-Identifier: MIT
# blip view: the same events as babeltrace2.
as: both

case: shows every event of a trace
target: loop_calls 500
run: blip record -p $PID --function work --context reg:rdi --context tid -o t
run: blip view t
check: len(out.splitlines()) == len(events())
check: [int(re.search(r"rdi\W+(\w+)", line)[1], 0) for line in out.splitlines()] == list(range(500))

case: without a directory it opens the newest
target: loop_calls 5
run: blip record -p $PID --function work
sleep: 1100ms
run: blip record -p $PID --function work --context reg:rdi
go:
run: blip view
check: len(out.splitlines()) == 5
expect: rdi

case: a directory that is no trace
run: blip view /etc
error: /etc

case: a directory that is not there
run: blip view nowhere
error: nowhere

case: stops when its reader does
target: loop_calls 100000
run: blip record -p $PID --function work -o t
sh: set -o pipefail; blip view t | head -1
expect-exit: 0 141

case: filters compose, over all streams, and tell how many of how many
target: threads 4 50
run: blip record -p $PID --function work --return work -o t
sh: blip view t --json > all
check: len(json_file("all")) == 400 and err == ""
sh: blip view t --json --function work:return --thread $tid1 --thread $tid2
check: json_lines() == [e for e in json_file("all") if e["name"] == "work:return" and e["tid"] in (tid1, tid2)]
expect-stderr: blip: 100 of 400 events shown
sh: blip view t --json --function work --thread $tid1 --from -1h --to 1h --head 7
check: json_lines() == [e for e in json_file("all") if e["tid"] == tid1][:7]
check: re.search(r"blip: 7 of the first \d+ events shown; the rest was not read .--head.", err)
sh: blip view t --json --from @$$(sed -n '100s/.*"time":\([0-9]*\).*/\1/p' all) --to -1ns -q
check: json_lines() == (lambda all: [e for e in all if all[99]["time"] <= e["time"] < all[-1]["time"]])(json_file("all")) and err == ""

case: a function that is in no event, and times without events
target: loop_calls 5
run: blip record -p $PID --function work -o t
sh: blip view t --function wrok
expect-exit: 1
expect-stderr: no event is called wrok
sh: blip view t --function work --thread 1 --from 1h
expect-stderr: blip: 0 of 5 events shown
sh: blip view t --function work --from '2001-02-03 04:05:06' --to '2001-02-03T04:05:07Z'
check: out == "" and "blip: 0 of the first 0 events shown; the rest is later (--to)" in err

case: events that do not tell their thread
target: loop_calls 5
run: blip record -p $PID --function work --no-tid -o t
sh: blip view t --thread $PID
expect-stderr: blip: 0 of 5 events shown; 5 do not tell their thread (--no-tid)

case: only what reads traces loads the library that reads them
target: loop_calls 5
run: blip record -p $PID --function work -o t
go:
sh: LD_DEBUG=files blip --version 2>&1 | grep -c libbabeltrace2 || true
check: out.strip() == "0"
sh: LD_DEBUG=files blip view t 2>&1 >/dev/null | grep -c "needed by\|calling init.*libbabeltrace2"
check: int(out) > 0
