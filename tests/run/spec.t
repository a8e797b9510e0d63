# SPDX-License-Identifier: MIT
# SPECs that --function accepts.
as: user

case: a symbol with offset zero
target: loop_calls 10
run: blip count -p $PID --function work+0
check: sum(table().values()) == 10

case: a run-time address
target: loop_calls 10
run: blip count -p $PID --function $work
check: sum(table().values()) == 10

case: a name that only a library has
target: lib_calls 10
with: libcalls.so.1
run: blip count -p $PID --function lib_work
check: sum(table().values()) == 10

case: a module without its suffix
target: lib_calls 10
with: libcalls.so.1
run: blip count -p $PID --function libcalls:lib_*
expect: lib_work 10
expect: lib_helper 10

case: a glob means the executable
target: lib_calls 10
with: libcalls.so.1
run: blip count -p $PID --function *e*
check: "lib_helper" not in table() and table()["parse_one"] == 10

case: a glob that nothing in the executable matches means the libraries, and that is told
target: lib_calls 10
with: libcalls.so.1
run: blip count -p $PID --function *_work
expect: lib_work 10
expect-stderr: *_work: nothing in the executable matches: found in libcalls.so.1

case: a glob that nothing matches anywhere
target: lib_calls 10
with: libcalls.so.1
run: blip count -p $PID --function zzz_*
error: no function matches, zzz_*

case: an unqualified C++ name means it in any namespace, and that is told
target: throws 30
run: blip count -p $PID --function outer --function inner
check: sum(table().values()) == 60 and set(table()) == {"shop::outer", "shop::inner"}
expect-stderr: outer means shop::outer

case: all functions of a stripped executable
target: loop_stripped 10
run: blip count -p $PID --function *
check: armed.probes >= 4 and 10 in [n for name, n in table().items() if name.startswith("loop_stripped+0x")]

case: all functions of a stripped executable are those of its list
target: loop_stripped 10
sh: blip list -p $PID > listed
run: blip count -p $PID --function *
check: read_file("listed").count("loop_stripped+0x") > 2
check: len(read_file("listed").splitlines()) == armed.probes + armed.refused

case: a glob over all modules
target: lib_calls 10
with: libcalls.so.1
run: blip count -p $PID --function *:lib_*
check: table().get("lib_work") == 10 and table().get("lib_helper") == 10

case: the executable as module
target: lib_calls 10
with: libcalls.so.1
run: blip count -p $PID --function lib_calls:parse_one
expect: parse_one 10

case: demangled names
target: throws 30
run: blip count -p $PID --function shop::outer --function shop::inner
check: sum(table().values()) == 60

case: a mangled name
target: throws 30
run: blip count -p $PID --function _ZN4shop6middleEm
check: sum(table().values()) == 30

case: a glob over demangled names
target: throws 30
run: blip count -p $PID --function shop::*
check: armed.probes == 3
check: sum(table().values()) == calls

case: the same function asked for twice is one probe
target: loop_calls 10
run: blip record -p $PID --function work --function wor* -o t
check: len(events()) == 10

case: no symbol matches, near names are suggested
target: loop_calls 10
run: blip count -p $PID --function wrok
error: wrok, work

case: no module matches
target: loop_calls 10
run: blip count -p $PID --function libnothere.so:work
error: libnothere

case: no symbols at all
target: loop_stripped 10
run: blip count -p $PID --function work
error: work

case: main and _start of a stripped executable
target: loop_stripped 10
run: blip count -p $PID --function main --function _start --function $main
expect: main 0
expect: _start 0
check: armed.probes == 2

case: one of two specs matches nothing
target: loop_calls 10
run: blip count -p $PID --function work --function zzz_nothing
error: zzz_nothing

case: an address outside of every module
target: loop_calls 10
run: blip count -p $PID --function 0x10
error: 0x10

case: an empty spec is a usage error
target: loop_calls 10
run: blip count -p $PID --function ""
expect-exit: 2
