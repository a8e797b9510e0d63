# SPDX-License-Identifier: MIT
# --context backtrace: stacks without frame pointers.
as: both
target: stacks 3

case: the callers of a function, by name
run: blip trace -p $PID --function leaf --context backtrace --max-events 1
expect-match: #0 leaf\+0x0 \(stacks\) stacks\.c:\d+\n +#1 inlined \[inlined\] \(stacks\) stacks\.c:\d+\n +#2 middle\+0x[0-9a-f]+ \(stacks\) stacks\.c:\d+\n +#3 outer\+0x[0-9a-f]+
expect-match: main\+0x[0-9a-f]+ \(stacks\) stacks\.c:\d+\n(?: +#\d+ .*\(libc\.so\.6\).*\n)+ +#\d+ _start\+0x[0-9a-f]+ \(stacks\)\n

case: a trace is symbolized after the process has gone
run: blip record -p $PID --function leaf --context backtrace -o t
reads:
exact:
line: end
sh: kill -9 $PID; blip view t
expect-exit: 0
check: len(re.findall(r"^\[", out, re.M)) == len(events()) == 18
expect-match: #\d+ middle\+0x[0-9a-f]+ \(stacks\) stacks\.c:\d+
expect-not: lttng_ust
also: target killed by KILL

case: through a signal handler
run: blip trace -p $PID --function leaf --context backtrace
expect-match: #1 on_signal\+0x[0-9a-f]+ \(stacks\) .*\n +#2 .*\(libc\.so\.6\)\n(?: +#\d+ .*libc\.so\.6.*\n)+ +#\d+ by_signal\+0x

case: a callback of the C library, and frames larger than a page
run: blip trace -p $PID --function leaf --context backtrace
expect-match: #1 compare\+0x.*\n(?: +#\d+ .*libc\.so\.6.*\n)+ +#\d+ by_library\+0x
expect-match: #4 by_wide_frames\+0x.*\n +#5 in_thread\+0x.*\n(?: +#\d+ .*libc\.so\.6.*\n)+\[

case: a recursion deeper than is kept
run: blip trace -p $PID --function leaf --context backtrace
expect-match: #127 by_recursion\+0x.*\n +\.\.\. the depth asked for

case: returns, lines and single instructions
run: blip trace -p $PID --context backtrace --return middle --line stacks.c:19 --probe outer+0x0
expect-match: middle:return: .*\n +#0 middle\+0x.*\n +#1 outer\+0x
expect-match: outer\+0x0: .*\n +#0 outer\+0x0.*\n +#1 (main|by_wide_frames)\+0x

case: as JSON
run: blip trace -p $PID --function leaf --context backtrace --json --max-events 1
check: [f["function"] for f in json_lines()[0]["backtrace"]][:4] == ["leaf", "inlined", "middle", "outer"]
check: json_lines()[0]["backtrace"][1]["inlined"] and json_lines()[0]["backtrace"][0]["module"] == "stacks"

case: beside registers, threads and values
run: blip record -p $PID --function leaf --args --context reg:rdi,tid,comm,backtrace --function middle -o t
reads:
check: all(e.n == e.rdi for e in events("leaf")) and len(events("middle")) == 9
check: len({e.stack_id for e in events("leaf")}) == 6

case: a trace tells where files were mapped, in the words of LTTng-UST
run: blip record -p $PID --function leaf --context backtrace -o t
sh: babeltrace2 t
expect-match: lttng_ust_statedump:start: .*\{ vpid = \d+, ip = 0x0 \}, \{ \}
expect-match: lttng_ust_statedump:bin_info: .*\{ vpid = \d+, ip = 0x0 \}, \{ baddr = 0x[0-9A-F]+000, memsz = \d+, path = "[^"]*/stacks", is_pic = 1, has_build_id = [01], has_debug_link = 0 \}
expect-match: lttng_ust_statedump:bin_info: .*libc\.so\.6", is_pic = 1, has_build_id = 1
expect-match: lttng_ust_statedump:end
expect-match: leaf: .*\{ vpid = \d+, ip = 0x[0-9A-F]+ \}, \{ vtid = \d+, stack_id = \d+

case: addresses are named by babeltrace2 itself
run: blip record -p $PID --function leaf --context backtrace -o t
sh: babeltrace2 --debug-info t
expect-match: leaf: .*ip = 0x[0-9A-F]+, debug_info = \{ bin = "stacks\+0x[0-9a-f]+", func = "leaf\+0", src = "stacks\.c:\d+" \} \}

case: equal stacks have one id
target: stacks 50
run: blip record -p $PID --function leaf --context backtrace -o t
exact:
check: len({e.stack_id for e in events()}) == 6

case: a library that comes later
target: plug_host 'l0 c0:5 u0' $TARGETS/libplug_a.so
state: text fds threads left
run: blip trace -p $PID --function work --function libplug_a:plug_work --context backtrace
expect-match: #0 plug_work\+0x0 \(libplug_a\.so\)
expect-match: main\+0x[0-9a-f]+ \(plug_host\)

case: without restartable sequences
inside: env GLIBC_TUNABLES=glibc.pthread.rseq=0
run: blip record -p $PID --function leaf --context backtrace -o t
exact:
check: len({e.stack_id for e in events()}) == 6

case: children have the stacks of their parent's code
target: forker 3
run: blip trace -p $PID --function work --context backtrace --max-events 4
expect-match: #0 work\+0x0 \(forker\).*\n +#1 .*\(forker\)

case: addresses in children are named by babeltrace2 and by blip view
target: forker 3
run: blip record -p $PID --function work --context backtrace -o t
exact:
sh: babeltrace2 --debug-info t | grep 'work: '
check: len(out.splitlines()) == 60 and all('func = "work+0", src = "work.h:' in line for line in out.splitlines())
check: len({e.vpid for e in events()}) == 4
sh: blip view t
check: len(re.findall(r"#0 work\+0x0 \(forker\)", out)) == 60

case: not with the kernel's breakpoints
run: blip trace -p $PID --function leaf --context backtrace --backend uprobe
usage: cannot walk up the program's stack

case: more different stacks than there is room for
target: many_stacks
timeout: 120
run: blip record -p $PID --function leaf --context backtrace --subbuf-size 16M -o t
expect-stderr: events have no backtrace: a trace has room for 65536 different stacks, or 1048576 frames of them
check: int(re.search("warning: ([0-9]+) events have no backtrace", err)[1])
  == int(__import__("subprocess").getoutput(f"babeltrace2 {trace_dir} | grep -c '_backtrace_length = 0'")) > 0
check: summary.events == calls
