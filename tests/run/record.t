# SPDX-License-Identifier: MIT
# blip record: a CTF trace that two independent readers read.
as: both

case: records every call, in order, with its argument
target: loop_calls 1000
run: blip record -p $PID --function work --context reg:rdi -o t
expect-stderr: blip: armed 1 probes in
expect-stderr: blip: 1000 events, 0 discarded, 0 skipped; trace in t
reads:
exact:
check: [e.rdi for e in events("work")] == list(range(1000))
check: [e.time for e in events()] == sorted(e.time for e in events())

case: records without a context
target: loop_calls 100
run: blip record -p $PID --function work -o t
reads:
exact:
check: len(events("work")) == 100

case: nothing called gives a readable empty trace
target: loop_calls 100
until: 50ms
run: blip record -p $PID --function work -o t
expect-stderr: blip: 0 events, 0 discarded, 0 skipped; trace in t
reads:

case: functions of the executable and of a library in one trace
target: lib_calls 100
with: libcalls.so.1
run: blip record -p $PID --function parse_* --function libcalls.so.1:lib_work -o t
reads:
check: [len(events(n)) for n in ("parse_one", "parse_two", "lib_work", "other")] == [100, 200, 100, 0]
check: {e.vtid for e in events()} == {PID}

case: every event of every class has its thread
target: lib_calls 100
with: libcalls.so.1
run: blip record -p $PID --function parse_one --return parse_two --every-instruction libcalls.so.1:lib_work -o t
reads:
check: len(events("parse_two:return")) == 200 and {e.vtid for e in events()} == {PID}

case: --no-tid leaves the thread out, but where a context asks for it
target: lib_calls 100
with: libcalls.so.1
run: blip record -p $PID --no-tid --function parse_* --function libcalls.so.1:lib_work --context tid --return parse_two -o t
reads:
check: {e.vtid for e in events("lib_work")} == {PID}
check: not any(hasattr(e, "vtid") for e in events() if e.name != "lib_work")

case: a context belongs to the probe before it
target: lib_calls 10
with: libcalls.so.1
run: blip record -p $PID --function parse_one --context reg:rdi --function parse_two --context reg:rsp -o t
reads:
check: all(hasattr(e, "rdi") and not hasattr(e, "rsp") for e in events("parse_one"))
check: all(hasattr(e, "rsp") and not hasattr(e, "rdi") for e in events("parse_two"))
check: [e.rdi for e in events("parse_one")] == list(range(10))

case: a context behind the last of several probes is for all, and told
target: lib_calls 10
with: libcalls.so.1
run: blip record -p $PID --function parse_one --function parse_two --context reg:rdi -o t
expect-stderr: --context after the last probe holds for all 2 probes
reads:
check: all(hasattr(e, "rdi") for e in events("parse_one") + events("parse_two")) and events("parse_one")

case: a filter behind the last of several probes is its own, and that is told
target: lib_calls 10
with: libcalls.so.1
run: blip count -p $PID --function parse_one --function parse_two --filter '$rdi < 0'
expect-stderr: --filter holds for the last probe alone, parse_two

case: a context before the first probe belongs to all
target: lib_calls 10
with: libcalls.so.1
run: blip record -p $PID --context reg:rdi --function parse_one --function parse_two -o t
reads:
check: len(events()) == 30 and all(hasattr(e, "rdi") for e in events())

case: the default output directory is named after the target and the time
target: loop_calls 10
run: blip record -p $PID --function work
expect-stderr: trace in blip-loop_calls-$PID-
sh: ls -d blip-loop_calls-$PID-*
expect-match: ^blip-loop_calls-\d+-\d{8}-\d{6}$
reads:

case: an empty directory that exists is used
target: loop_calls 10
sh: mkdir t
run: blip record -p $PID --function work -o t
reads:
exact:

case: the trace of more events than one ring holds is whole
target: loop_calls 200000
run: blip record -p $PID --function work --context reg:rdi --subbuf-size 2M -o t
reads:
exact:
check: summary.discarded == 0
check: [e.rdi for e in events("work")] == list(range(200000))

case: ends by itself after --duration
target: loop_calls 100
until: end
run: blip record -p $PID --function work --duration 300ms -o t
reads:
exact:

case: ends by itself after --max-events
target: loop_calls 100000
until: end
run: blip record -p $PID --function work --max-events 50 --context reg:rdi -o t
expect-stderr: blip: 50 events,
reads:
check: [e.rdi for e in events("work")] == list(range(50))

case: the real time of events is right
target: loop_calls 10
sh: date +%s%N > before
run: blip record -p $PID --function work -o t
sh: date +%s%N > after
check: int(read_file("before")) < events()[0].time <= events()[-1].time < int(read_file("after"))

case: the time to arm is told in its two parts
target: loop_calls 10
run: blip record -v -p $PID --function work -o t
check: abs(sum(float(ms) for ms in re.search(r"instrumentation ([\d.]+) ms, registration ([\d.]+) ms", err).groups())
  - armed.total_ms) < 0.3
