# SPDX-License-Identifier: MIT
# Processes, threads and libraries that come and go; children made in every way; who must not be touched.
as: both
timeout: 60

case: children of raw system calls are recorded under their own pids
target: raw_forks 10
run: blip record -p $PID --function work --context tid -o t
reads:
exact:
check: summary.skipped == 0 and summary.discarded == 0
check: len({e.vpid for e in events()}) == 41
check: all(e.vtid == e.vpid for e in events())

case: children of raw system calls, counted
target: raw_forks 10
run: blip count -p $PID --function work
check: table()["work"] == calls and summary.skipped == 0

case: children of raw system calls are left alone if the user wants it
target: raw_forks 10
run: blip record -p $PID --function work --no-follow-fork -o t
reads:
check: summary.events * 2 == calls and summary.skipped == 0 and summary.discarded == 0

case: children of raw system calls are left alone, counted
target: raw_forks 10
run: blip count -p $PID --function work --no-follow-fork
check: table()["work"] * 2 == calls and summary.skipped == 0

case: a process that may not read the cycle counter is refused
target: forbidden tsc
run: blip record -p $PID --function work -o t
error: $PID, PR_SET_TSC, blip count
check: untouched(PID)
go:

case: a process that may not read the cycle counter can be counted
target: forbidden tsc
run: blip count -p $PID --function work
check: table()["work"] == calls

case: a process in strict seccomp mode is refused
target: forbidden strict
run: blip count -p $PID --function work
error: $PID, strict seccomp
go:

case: a process under valgrind is refused
needs: valgrind
timeout: 120
sh: mkfifo in && (valgrind -q $TARGETS/loop_calls 10 < in > out 2>&1 & echo $$! > pid) && exec 3> in && until grep -q ready out; do sleep 0.1; done; blip count -p $$(cat pid) --function work 2> err; code=$$?; exec 3>&-; cat err; test $$code = 1 && grep -q valgrind err

case: threads, libraries and children are told of, before and after what they do
target: comes_and_goes $TARGETS/libcalls.so.1
start: blip trace -p $PID --function work --lifecycle --json
go: nowait
wait: say in_thread
wait: print "thread:begin","tid":$htid
go: nowait
wait: say loaded
wait: print "thread:end","tid":$htid
wait: print libcalls.so.1
go: nowait
wait: say unloaded
wait: print "library:unload"
go: nowait
wait: say in_child
wait: print "process:fork","tid":$child0
go: nowait
wait: say in_crash
wait: print "process:end","tid":$child0
wait: print "process:fork","tid":$child1
go: nowait
wait: say last
wait: print "process:end","tid":$child1
go: nowait
end: alone
also: target exits 3
check: json_lines()[0]["name"] == "process:begin" and json_lines()[-1]["name"] == "process:end"
check: [e["name"] for e in json_lines() if e.get("tid") == htid] == ["thread:begin", "work", "thread:end"]
check: [e["name"] for e in json_lines() if e.get("pid") == child0 and not e["name"].startswith("library")] == ["process:fork", "thread:begin", "work", "thread:end", "process:end"]
check: [(e["pid"], e["fields"]["status"], e["fields"]["signal"]) for e in json_lines() if e["name"] == "process:end"] == [(child0, 7, 0), (child1, -1, 11), (PID, 3, 0)]
check: [e["fields"]["parent"] for e in json_lines() if e["name"] == "process:fork"] == [PID, PID]
check: [e["name"] for e in json_lines() if "libcalls" in e.get("fields", {}).get("path", "") and e["pid"] == PID] == ["library:load", "library:unload"]
check: [e["time"] for e in json_lines()] == sorted(e["time"] for e in json_lines())

case: the events of a life in a trace that others read
target: comes_and_goes $TARGETS/libcalls.so.1
start: blip record -p $PID --function work --context tid --lifecycle -o t
go: nowait
wait: say in_thread
go: nowait
wait: say loaded
go: nowait
wait: say unloaded
go: nowait
wait: say in_child
go: nowait
wait: say in_crash
go: nowait
wait: say last
go: nowait
end: alone
also: target exits 3
reads:
check: [e.vtid for e in events("work")] == [htid, child0, child1]
check: [(e.vpid, e.status) for e in events("process:end") if e.vpid == PID] == [(PID, 3)]
check: {e.vpid for e in events("process:fork")} == {child0, child1}
check: {e.vpid for e in events("process:end")} == {PID, child0, child1}

case: life-cycle alone puts nothing into the process
target: loop_calls 10
start: blip trace -p $PID --lifecycle --json
wait: print library:load
check: untouched(PID)
go:
end:
check: {e["name"] for e in json_lines()} == {"process:begin", "thread:begin", "library:load"}

case: a command's life from its begin to its end
until: alone
run: blip record --lifecycle -o t -- /bin/sh -c 'exit 0'
reads:
check: [e.name for e in events() if not e.name.startswith("library")] == ["process:begin", "thread:begin", "thread:end", "process:end"]
check: [(e.status, e.signal) for e in events("process:end")] == [(0, 0)]

case: a command that is killed
until: alone
run: blip record --lifecycle -o t -- /bin/sh -c 'kill -9 $$$$'
expect-exit: -9 137
reads:
check: [(e.status, e.signal) for e in events("process:end")] == [(-1, 9)]

case: a process whose first thread has ended
sh: mkfifo in; $TARGETS/leaderless 1000 < in > out & pid=$$!; exec 3> in; until grep -q ready out; do sleep 0.05; done;
  blip record -p $$pid --function work --lifecycle -o t 2> err 3>&- & blip=$$!; until grep -q armed err; do sleep 0.05; done;
  echo >&3; until grep -q done out; do sleep 0.05; done; exec 3>&-; wait $$blip; code=$$?; cat err; exit $$code
expect: 0 discarded, 0 skipped
sh: babeltrace2 t > text; grep -c ' work:' text; grep -c process:end text
expect: 1000
expect: 1

case: twenty threads begin and end
until: alone
run: blip record --function work --lifecycle -o t -- $TARGETS/twenty
expect-exit: 3
reads:
check: summary.discarded == 0 and summary.skipped == 0
check: len(events("thread:begin")) == 21 and len({e.vtid for e in events("thread:begin")}) == 21
check: sorted(e.vtid for e in events("thread:begin")) == sorted(e.vtid for e in events("thread:end"))
check: all([e.name for e in events() if e.vtid == w.vtid and e.name != "library:load"] == ["thread:begin", "work", "thread:end"] for w in events("work"))

case: twenty threads, shown live
until: alone
run: blip trace --function work --lifecycle --json -- $TARGETS/twenty
expect-exit: 3
check: [len([e for e in json_lines() if e["name"] == n]) for n in ("thread:begin", "work", "thread:end")] == [21, 20, 21]
check: [e["time"] for e in json_lines()] == sorted(e["time"] for e in json_lines())

case: twenty threads of a process that runs already
target: twenty rounds
state: text fds left
repeat: 3
run: blip record -p $PID --function work --lifecycle -o t$CYCLE
check: summary.discarded == 0 and summary.skipped == 0
check: len(events("thread:begin")) == 21 and len({e.vtid for e in events("thread:begin")}) == 21
check: sorted(e.vtid for e in events("thread:end")) == sorted(e.vtid for e in events("work")) and len(events("work")) == 20
check: all([e.name for e in events() if e.vtid == w.vtid] == ["thread:begin", "work", "thread:end"] for w in events("work"))

case: twenty threads without a probe
until: alone
run: blip record --lifecycle -o t -- $TARGETS/twenty
expect-exit: 3
reads:
check: len(events("thread:begin")) == 21 and len(events("thread:end")) == 21
check: [(e.status, e.signal) for e in events("process:end")] == [(3, 0)]

case: what begins and ends does not use up the events
until: alone
run: blip record --function work --lifecycle --max-events 20 -o t -- $TARGETS/twenty
expect-exit: 3
reads:
check: len(events("work")) == 20

case: what begins and ends does not use up the events, shown live
until: alone
run: blip trace --function work --lifecycle --max-events 20 --json -- $TARGETS/twenty
expect-exit: 3
check: len([e for e in json_lines() if e["name"] == "work"]) == 20

case: as many events are told as were shown
until: alone
run: blip trace --function work --lifecycle --max-events 5 --json -- $TARGETS/twenty
expect-exit: 3
check: len([e for e in json_lines() if e["name"] == "work"]) == 5 and summary.events == len(json_lines())

case: a child of a shell that nobody could look at
until: alone
run: blip record --lifecycle -o t -- sh -c 'true & wait'
reads:
check: [e.name for e in events() if e.vpid == events("process:fork")[0].vpid] == ["process:fork", "thread:begin", "thread:end", "process:end"]
check: [(e.parent, e.comm) for e in events("process:fork")] == [(events("process:begin")[0].vpid, "sh")]
check: [(e.status, e.signal) for e in events("process:end")] == [(0, 0), (0, 0)]

case: children are not told of where they are not followed
until: alone
run: blip record --lifecycle --no-follow-fork -o t -- sh -c 'true & /bin/true & wait'
reads:
check: not events("process:fork") and len(events("process:end")) == 1 and len(events("thread:begin")) == 1

case: threads that come and go all the time are told once each
target: thread_storm
state: text fds left
run: blip record -p $PID --function work --lifecycle -o t
reads:
check: summary.discarded == 0 and summary.skipped == 0
check: len(events("thread:end")) > 20 and len({e.vtid for e in events("thread:begin")}) == len(events("thread:begin"))
check: {e.vtid for e in events("work")} <= {e.vtid for e in events("thread:begin")}
check: {e.vtid for e in events("thread:end")} <= {e.vtid for e in events("thread:begin")}

case: threads of a static program
until: alone
run: blip record --function work --lifecycle -o t -- $TARGETS/early_threads_static
reads:
check: sorted(e.vtid for e in events("thread:begin")) == sorted(e.vtid for e in events("thread:end"))
check: {e.vtid for e in events("work")} <= {e.vtid for e in events("thread:begin")}
