# SPDX-License-Identifier: MIT
# Several probes at one place: each has its own filter, data and event.
as: both
target: recursion 12

case: of one function, each with its filter
run: blip record -p $PID --function fib --filter 'n < 2' --args --function fib --filter 'n > 7' --args -o t
reads:
check: armed.probes == 2
check: sorted({e.n for e in events()}) == [0, 1, 8, 9, 10, 11, 12] and 0 < len(events()) < calls
check: len([e for e in events() if e.n < 2]) == 233 and len([e for e in events() if e.n > 7]) == 12

case: each with its data
run: blip record -p $PID --function fib --args --context cpu --filter 'n == 3' --function fib --context ip -o t
reads:
check: [e.n for e in events() if hasattr(e, "cpu")] == [3] * 55 and len([e for e in events() if hasattr(e, "ip") and not hasattr(e, "n")]) == calls

case: counted, and told apart by their filters
run: blip count -p $PID --function fib --filter 'n < 2' --function fib --filter 'n > 7' --function fib
expect-match: fib if n < 2 +233\n
expect-match: fib if n > 7 +12\n
expect-match: ^fib +465$
check: armed.probes == 3 and summary.events == 465 + 233 + 12

case: counted, in JSON
run: blip count -p $PID --function fib --filter 'n < 2' --function fib --json
check: {(f["name"], f.get("filter", ""), f["hits"]) for f in json_lines()} == {("fib", "n < 2", 233), ("fib", "", 465)}

case: a name and a pattern that means it too
run: blip count -p $PID --function fib --filter 'n == 12' --function 'fi*' --filter 'n == 11' --json
check: sorted((f["name"], f["filter"], f["hits"]) for f in json_lines()) == [("fib", "n == 11", 1), ("fib", "n == 12", 1)]

case: what is asked for twice in the same way is one probe
run: blip count -p $PID --function fib --filter 'n < 2' --function fib --function 'fi*' --filter 'n < 2' --function fib
check: armed.probes == 2 and summary.events == 465 + 233

case: returns, each with its filter and its values of the entry
run: blip record -p $PID --return fib --filter 'entry(n) < 2' --return fib --capture 'n = entry(n), twice = entry(n * 2)' --filter 'ret > 20' --return fib -o t
reads:
check: armed.probes == 3 and summary.skipped == 0
check: len(events("fib:return")) == 233 + len([e for e in events() if hasattr(e, "twice")]) + 465
check: {(e.n, e.twice, e.ret) for e in events() if hasattr(e, "twice")} == {(8, 16, 21), (9, 18, 34), (10, 20, 55), (11, 22, 89), (12, 24, 144)}
check: sorted({e.depth for e in events()}) == list(range(12))

case: returns and entries
run: blip record -p $PID --return fib --filter 'depth == 0' --function fib --filter 'n == 1' --return fib --filter 'depth == 11' --function fib --filter 'n == 12' -o t
reads:
check: [(e.name, getattr(e, "depth", None)) for e in events() if e.name == "fib:return" and e.depth == 0] == [("fib:return", 0)]
check: len(events("fib")) == 145 and {e.depth for e in events("fib:return")} == {0, 11}

case: latencies are those of the call, not of the probes before
run: blip record -p $PID --return fib --capture 'a = entry(n)' --return fib --filter 'latency_ns >= 0' --capture 'b = entry(n)' -o t
reads:
check: len(events()) == 2 * calls and [(e.a, e.latency_ns) for e in events() if hasattr(e, "a")] == [(e.b, e.latency_ns) for e in events() if hasattr(e, "b")]

case: how long calls take, by filter
run: blip count -p $PID --latency --function fib --filter 'entry(n) < 2' --function fib --filter 'entry(n) == 12' --function fib --json
check: {f.get("filter", ""): (f["calls"], f["abandoned"], f["open"]) for f in json_lines()} == {"entry(n) < 2": (233, 0, 0), "entry(n) == 12": (1, 0, 0), "": (465, 0, 0)}

case: the same by the kernel's clock
run: blip count -p $PID --latency --function fib --filter 'entry(n) < 2' --function fib --json --clock monotonic
check: {f.get("filter", ""): (f["calls"], f["abandoned"], f["open"]) for f in json_lines()} == {"entry(n) < 2": (233, 0, 0), "": (465, 0, 0)}

case: an instruction, a line, and every instruction
run: blip count -p $PID --probe fib+0 --filter 'n < 2' --probe fib+0 --filter 'n > 7' --every-instruction fib --json
check: {f["filter"]: f["hits"] for f in json_lines() if f.get("filter")} == {"n < 2": 233, "n > 7": 12}
check: [f["hits"] for f in json_lines() if f["name"] == "fib+0x0" and not f.get("filter")] == [465]

case: by traps
run: blip count -p $PID --backend trap --function fib --filter 'n < 2' --function fib --filter 'n > 7' --json
check: {f["filter"]: f["hits"] for f in json_lines()} == {"n < 2": 233, "n > 7": 12}

case: returns by traps
run: blip count -p $PID --backend trap --return fib --filter 'ret == 1' --return fib --filter 'depth == 0' --json
check: {f["filter"]: f["hits"] for f in json_lines()} == {"ret == 1": 233, "depth == 0": 1}

case: by the kernel's breakpoints
as: root
run: blip record -p $PID --backend uprobe --function fib --context reg:rdi --function fib --context cpu -o t
reads:
check: armed.probes == 2 and len([e for e in events() if hasattr(e, "rdi")]) == calls == len([e for e in events() if hasattr(e, "cpu")])

case: in a library that comes later, returns too
target: plug_host 'l0 c0:50 u0' $TARGETS/libplug_a.so
state: loose
run: blip count -p $PID --function work --function libplug_a:plug_work --function 'libplug_a:plug_w*' --filter '$arg1 + 1 > 0' --return libplug_a:plug_work --filter 'depth == 0' --return 'libplug*:plug_wor*' --json
check: sorted((f["name"], f.get("filter", ""), f["hits"]) for f in json_lines() if f["hits"]) == [("plug_work", "", calls), ("plug_work", "$arg1 + 1 > 0", calls), ("plug_work:return", "", calls), ("plug_work:return", "depth == 0", calls)]

case: more values of the entry than a call can keep
run: blip count -p $PID --return fib --filter 'entry(n) + entry(n*2) + entry(n*3) + entry(n*4) + entry(n*5) + entry(n*6) + entry(n*7) + entry(n*8) + 1 > 0' --return fib --filter 'entry(n) + entry(n+2) + entry(n+3) + entry(n+4) + entry(n+5) + entry(n+6) + entry(n+7) + entry(n+8) + 1 > 0' --json -v
expect-stderr: one call can keep no more than 14
check: armed.probes == 1 and [f["hits"] for f in json_lines()] == [calls]

case: calls that are abandoned are so for each of them
target: call_kinds longjmp 300
run: blip count -p $PID --latency --function leap --filter 'depth == 0' --function leap --json
check: [f["abandoned"] + f["open"] for f in json_lines()] == [100, 100] and [f["calls"] for f in json_lines()] == [200, 200]
