# SPDX-License-Identifier: MIT
# blip count --latency: how long calls take, without an event for each. Every call is in the table exactly once.
as: both
timeout: 60

case: every call of a recursion
target: recursion 15
run: blip count -p $PID --latency --function fib --json
check: [(f["name"], f["calls"], f["abandoned"], f["open"]) for f in json_lines()] == [("fib", calls, 0, 0)]
check: summary.events == calls and json_lines()[0]["mean_ns"] == json_lines()[0]["total_ns"] // calls
check: all(f["p50_ns"] <= f["p99_ns"] <= f["max_ns"] <= f["total_ns"] for f in json_lines())

case: the table
target: recursion 10
run: blip count -p $PID --latency --return fib
expect-match: ^NAME +CALLS +TOTAL +MEAN +P50 +P99 +MAX +ABANDONED +OPEN\nfib +177( +[0-9.]+ (ns|us|ms|s)){5} +0 +0\n$

case: as long as the program measures, which sleeps
target: call_kinds clock 8
run: blip count -p $PID --latency --function timed --json
check: [(f["calls"], f["open"]) for f in json_lines()] == [(8, 0)]
check: sum(map(int, str(least).split(","))) * 0.999 <= json_lines()[0]["total_ns"]
check: json_lines()[0]["total_ns"] <= sum(map(int, str(most).split(","))) * 1.001 + 8000
check: max(map(int, str(least).split(","))) * 0.999 <= json_lines()[0]["max_ns"] == json_lines()[0]["p99_ns"]
check: sorted(map(int, str(least).split(",")))[3] * 0.999 <= json_lines()[0]["p50_ns"]
check: json_lines()[0]["p50_ns"] <= sorted(map(int, str(most).split(",")))[3] * 1.126 + 1000

case: the same by the kernel's clock
target: call_kinds clock 8
run: blip count -p $PID --latency --function timed --json --clock monotonic
check: [(f["calls"], f["open"]) for f in json_lines()] == [(8, 0)]
check: sum(map(int, str(least).split(","))) <= json_lines()[0]["total_ns"] <= sum(map(int, str(most).split(",")))

case: several threads
target: threads 8 20000
run: blip count -p $PID --latency --function work --json
check: [(f["name"], f["calls"] + summary.skipped) for f in json_lines()] == [("work", calls)]

case: a program without restartable sequences
needs: musl-gcc
target: loop_musl 300
run: blip count -p $PID --latency --function work --json
check: [(f["calls"], f["abandoned"], f["open"]) for f in json_lines()] == [(300, 0, 0)]

case: calls that longjmp leaves
target: call_kinds longjmp 300
run: blip count -p $PID --latency --function leap --json
check: json_lines()[0]["calls"] == 200 == calls and entered == 300
check: json_lines()[0]["abandoned"] + json_lines()[0]["open"] == 100

case: calls that exceptions leave
target: throws 300
run: blip count -p $PID --latency --function shop::inner --function shop::outer --json
check: {f["name"]: f["calls"] for f in json_lines()} == {"shop::inner": 200, "shop::outer": 300}
check: [f["abandoned"] + f["open"] for f in json_lines() if f["name"] == "shop::inner"] == [100]

case: threads that end inside of a call
target: call_kinds threads 100
run: blip count -p $PID --latency --function in_thread --json
check: json_lines()[0]["calls"] == calls and json_lines()[0]["abandoned"] + json_lines()[0]["open"] == entered - calls

case: a fork in the middle of a call returns twice
target: call_kinds fork 20
run: blip count -p $PID --latency --function twice --json
check: json_lines()[0]["calls"] == calls == 40 and json_lines()[0]["abandoned"] == 0

case: a call that is open at the end
target: call_kinds wait 1
start: blip count -p $PID --latency --function waits --function waits_outside --json
go: nowait
wait: say waiting
end:
check: {f["name"]: (f["calls"], f["open"]) for f in json_lines()} == {"waits": (0, 1), "waits_outside": (0, 1)}
line: go
wait: done

case: what was open when the process ended is not known
until: alone
run: blip count --latency --function fib --json -- $TARGETS/recursion
expect: "calls":0,
expect: "open":null}

case: only calls that pass the filter
target: recursion 12
run: blip count -p $PID --latency --return fib --filter 'depth == 0' --json
check: [f["calls"] for f in json_lines()] == [1]
run: blip count -p $PID --latency --return fib --filter 'latency_ns > 600000000000' --json
check: [f["calls"] for f in json_lines()] == [0]

case: a slow function passes its filter by the latency
target: call_kinds clock 4
run: blip count -p $PID --latency --return timed --filter 'latency > 1ms' --json
check: [(f["calls"], f["p50_ns"] >= 2000000) for f in json_lines()] == [(4, True)]

case: record tells the same of what it recorded
target: recursion 12
run: blip record -p $PID --return fib -o t
exact:
check: re.search(r"; trace in \S+\nNAME +CALLS .*\nfib +" + str(calls) + r" .* 0 +0\n$", err) is not None
check: len(events()) == calls

case: record -q has no table
until: alone
run: blip record --return * -o t -- $TARGETS/exits
expect-stderr: ABANDONED
run: blip record -q --return * -o u -- $TARGETS/exits
check: err == ""

case: without returns record has no table
target: recursion 5
run: blip record -p $PID --function fib -o t
expect-not: CALLS

case: an instruction takes no time
target: recursion 1
run: blip count -p $PID --latency --probe fib+0
usage: --latency measures calls

case: hits have no times
target: recursion 1
run: blip count -p $PID --function fib --clock tsc
usage: --clock: hits have no times

case: more histograms than memory is set aside for
target: crowd 10
run: blip count -p $PID --latency --function crowd_* --max-probes 1000000
usage: the histograms of, functions on, name fewer functions
check: untouched(PID)

case: a process that may not read the cycle counter is refused
target: forbidden tsc
run: blip count -p $PID --latency --function work
error: $PID, PR_SET_TSC, blip count --function
run: blip count -p $PID --return work
error: $PID, PR_SET_TSC, blip count --function
check: untouched(PID)
go:
