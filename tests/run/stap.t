# SPDX-License-Identifier: MIT
# blip run: scripts in SystemTap's language. What the language means is tested in src/stap; here it meets processes.
case: the script of stapdyn's slides, on a process
target: typed 3
run: blip run $LIB/../scripts/slides.stp -p $PID
check: out == f"typed({PID}) total 3\ntyped({PID}) total 4\n"
expect-stderr: blip: 3 events, 0 discarded, 0 skipped

case: a script is a command by its first line
until: alone
sh: ln -s $$(command -v blip) blip; PATH=$$PWD:$$PATH $LIB/../scripts/ticks.stp
expect: ticks 3

case: variables, members, elements, casts, globals and texts of the target
target: typed 3
run: blip run $LIB/../scripts/values.stp -p $PID
expect: 0 200 /admin a name
expect: 6 Accept -1
expect: 1 0 7
expect: 40 40 0
expect: 1 1
expect: 1 201 /last a name
expect: 2 202 /admin none

case: texts of whole structures
target: typed 1
run: blip run $LIB/../scripts/texts.stp -p $PID
expect: {.x=3, .y=-4}
expect: {.name="Host", .length=4}
expect: "words in a buffer"

case: returns, with values of the entry and the time between
target: typed 3
run: blip run $LIB/../scripts/returns.stp -p $PID
check: len(re.findall(r"^\S+ [012] [12] handle$", out, re.M)) == 3
expect: 3 1

case: probe points by pattern, optional ones, names of places, stacks
target: typed 1
run: blip run $LIB/../scripts/places.stp -p $PID
expect: process.function("hand*") handle 0
expect: process.function("by_value") by_value 0
check: re.search(r'^process\("\S*typed"\)\.function\("handle@\S*typed.c:\d+"\)$', out, re.M)
check: re.search(r": main\+0x[0-9a-f]+ \[typed\]$", out, re.M)

case: timers and end need no target
until: alone
run: blip run $LIB/../scripts/ticks.stp
check: out == "begin\nticks 3\n"

case: arguments, globals of the command line, an error at run time
until: alone
run: blip run --lang stap -G g=5 -e 'global g probe begin { println(g, @1, $2); error("no") }' a 7
check: out == "5a7\n"
expect-stderr: ERROR: no near
expect-exit: 1

case: what is wrong is shown where it is
until: alone
run: blip run --lang stap -e 'probe begin { println(1 + "x") }'
error: -e:1:27: a long is expected here, and this is a string

case: what is the kernel's is refused by name
until: alone
run: blip run --lang stap -e 'probe kernel.function("x") { }'
error: a kernel probe: blip sees user space only, stap as root can

case: the places that a probe point means, in the words of pp(), and what can be seen there
sh: blip run -L 'process("$TARGETS/loop_calls").function("wor*")'
expect: process("$TARGETS/loop_calls").function("work")
expect: char * s
check: out.count("function(") == 1

case: the same of bpftrace's words
sh: blip run -l 'uprobe:$TARGETS/loop_calls:wor*'
expect: loop_calls:work
