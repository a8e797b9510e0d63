# SPDX-License-Identifier: MIT
# blip list: what can be probed, and what it says must be what arming comes to. Every case with a target also compares
# the target's state before and after.

case: functions of a process, by a pattern
as: both
target: loop_calls 10
run: blip list -p $PID w*k
check: out.split()[0] == "0x%012x" % work
check: re.fullmatch(r"0x[0-9a-f]{12}  +\d+  (nop5|insn|window)   +loop_calls  work\n", out)
expect-stderr: 1 functions, 1 can be probed, 0 refused

case: functions of a process by its name
as: both
target: loop_calls 10
prepare: cp $TARGETS/loop_calls only_one_$$$$; echo name=only_one_$$$$
sh: mkfifo in; ./$name 1 < in > said & exec 3> in; until grep -q ready said; do sleep 0.05; done; blip list -n $name work; code=$$?; exec 3>&-; wait; exit $$code
expect: work
expect-stderr: 1 functions, 1 can be probed, 0 refused

case: no process of a name
sh: blip list -n no_such_process_here
error: no process of yours is named no_such_process_here

case: functions of a file
as: both
run: blip list $TARGETS/loop_calls work
check: re.fullmatch(r"0x[0-9a-f]{12}  +\d+  (nop5|insn|window)   +loop_calls  work\n", out)

case: without a pattern all functions of the executable
target: loop_calls 10
run: blip list -p $PID
expect: loop_calls work
expect: loop_calls main
expect: loop_calls _start
expect-not: libc.so.6
expect-not: loop_calls+0x
check: [line.split()[0] for line in out.splitlines()] == sorted(line.split()[0] for line in out.splitlines())

case: a process and its file get the same verdicts
as: both
target: odd 10
sh: blip list -q -p $PID > of_process && blip list -q $TARGETS/odd > of_file
# The addresses of the process decide which pun fits, but not whether one does.
check: [(w[1], w[2] == "refused", w[3:]) for w in map(str.split, read_file("of_process").splitlines())] ==
       [(w[1], w[2] == "refused", w[3:]) for w in map(str.split, read_file("of_file").splitlines())]
check: read_file("of_file").count(" refused ") > 3

case: the verdicts are what arming comes to
as: both
target: odd 10
sh: blip list -q -p $PID --json '*' > listed
run: blip count -v -p $PID --function *
check: {"%s: %s" % (f["name"], f["refused"]) for f in json_file("listed") if "refused" in f} ==
       set(re.findall(r"^blip: refused (.*)$", err, re.M))
check: armed.probes == read_file("listed").count('"patch":"jump"') and armed.refused > 3

case: the verdicts are what arming comes to, in libraries too
as: user
target: lib_calls 10
with: libcalls.so.1
sh: blip list -q -p $PID --json '*:*' > listed
run: blip count -v -p $PID --function *:*
check: {"%s: %s" % (f["name"], f["refused"]) for f in json_file("listed") if "refused" in f} ==
       set(re.findall(r"^blip: refused (.*)$", err, re.M))
check: armed.probes == read_file("listed").count('"patch":"jump"') and armed.probes > 2000

case: code changed in memory
target: loop_calls 10
start: blip count -p $PID --function work
sh: blip list -p $PID work
expect: work # the code in memory differs from the file
end: INT
sh: blip list -p $PID work
expect-not: refused loop_calls

case: the functions of a library
target: lib_calls 10
with: libcalls.so.1
run: blip list -p $PID libcalls:lib_*
check: len(out.splitlines()) == 2
expect: libcalls.so.1 lib_work
expect: libcalls.so.1 lib_helper

case: a library's file
run: blip list $TARGETS/libcalls.so.1 lib_*
check: len(out.splitlines()) == 2

case: source lines, mangled names and the build-id with -v
target: throws 30
run: blip list -v -p $PID shop::*
check: len(re.findall(r"  shop::\w+  at /\S+/throws.cc:\d+  mangled _ZN4shop\w+$", out, re.M)) == 3
check: re.match(r"# throws: /\S+/throws, build-id [0-9a-f]{40}\n", out)

case: source lines from a separate debug file
as: user
sh: cp $TARGETS/loop_calls prog && objcopy --only-keep-debug prog prog.debug && strip prog && objcopy --add-gnu-debuglink=prog.debug prog
run: blip list -v prog work
check: re.search(r"  prog +work  at /\S+/work.h:\d+$", out, re.M)

case: aliases with -v
run: blip list -v $TARGETS/loop_static __libc_malloc
expect: also

case: json
target: throws 30
run: blip list -p $PID --json shop::outer
check: json_lines()[0]["name"] == "shop::outer" and json_lines()[0]["mangled"] == "_ZN4shop5outerEm"
check: json_lines()[0]["module"] == "throws" and json_lines()[0]["patch"] == "jump"
check: json_lines()[0]["step"] in ("nop5", "insn", "window") and json_lines()[0]["size"] > 0
check: set(json_lines()[0]) == {"v", "kind", "name", "mangled", "address", "size", "module", "patch", "step"}

case: json with source lines
run: blip list -v $TARGETS/throws --json shop::outer
check: json_lines()[0]["file"].endswith("/throws.cc") and json_lines()[0]["line"] > 1
check: len(json_lines()[0]["build_id"]) == 40 and json_lines()[0]["path"].endswith("/throws")

case: a stripped file, whose functions only the unwind tables know
as: user
run: blip list $TARGETS/loop_stripped
check: re.search(r"^0x[0-9a-f]{10}([0-9a-f]{2}) .*  loop_stripped\+0x[0-9a-f]+\1$", out, re.M)

case: a nameless function is probed by its address
target: loop_stripped 10
sh: blip list -q -p $PID | grep -v refused | awk '/loop_stripped[+]/ { print $$1 }' | head -1 > address
sh: timeout 10 blip count -p $PID --function $$(cat address) --duration 100ms
expect-stderr: armed 1 probes

case: nothing matches, near names are suggested
target: loop_calls 10
run: blip list -p $PID wrok
error: wrok, nearest, work

case: nothing matches in a file
run: blip list $TARGETS/loop_calls wrok
error: wrok, work

case: a pattern that matches nothing in a file
run: blip list $TARGETS/loop_calls no_such_*
error: no_such_*
expect-not: libraries too

case: a module that is not loaded
target: loop_calls 10
run: blip list -p $PID libnothere:work
error: libnothere, libc.so.6

case: a process that is not there
run: blip list -p 4194000
error: 4194000, no

case: another user's process
as: user
target-as: root
target: loop_calls 10
run: blip list -p $PID
error: $PID, root

case: a file that is not there
run: blip list no/such/file
error: no/such/file, no such file

case: a command's name instead of its file
run: blip list sleep
error: sleep, did you mean, /sleep?

case: a pid without -p
run: blip list 4711
error: 4711, -p 4711

case: no ELF file
run: blip list /etc/passwd
error: /etc/passwd, not an ELF file

case: a script
sh: printf '#! /bin/sh -e\ntrue\n' > script
run: blip list script
error: script, /bin/sh

case: an object file
sh: printf 'int f(void) { return 1; }\n' > f.c && gcc -c f.c -o f.o
run: blip list f.o
error: f.o, object file

case: a directory
run: blip list /usr/bin
error: /usr/bin, not a regular file

case: a file one may not read
as: user
sh: cp $TARGETS/loop_calls secret && chmod 0111 secret
run: blip list secret
error: secret, permission denied

case: a 32-bit file
run: blip list $TARGETS/loop_32
error: 32-bit

case: a pattern that is no SPEC
run: blip list $TARGETS/loop_calls main+
usage: main+

case: an offset
run: blip list $TARGETS/loop_calls main+4
usage: main+4, offset

case: a reader that goes away
sh: blip list -q $TARGETS/loop_static | head -1
check: len(out.splitlines()) == 1 and err == ""

case: a full disk
sh: blip list -q $TARGETS/loop_static > /dev/full
expect-exit: 1
expect-stderr: No space left

case: quiet, and colours when asked for
run: blip list -q --color=always $TARGETS/loop_calls work
check: err == "" and "\x1b[" in out

case: variables, where they are, and the layout of their types
target: typed 4
run: blip list -p $PID handle -v
expect-match: ^    int handle\(struct request \* req, int n, char \* who, unsigned char small, long long( int)? large\)$
expect-match: ^      req +struct request \* +rdi$
expect-match: ^      sum +int +optimized out$
expect-match: ^    struct request, [0-9]+ bytes$
expect-match: ^      8 +8  char \* path$
expect-match: ^      16 +48  struct header \[3\] headers$
expect-match: ^      [0-9]+:[0-9] +5  int delta : 5$
run: blip list $TARGETS/typed_o0 handle -v
expect-match: ^      sum +int +not set yet$
run: blip list $TARGETS/typed handle -v --json
check: [v["place"] for v in json_lines()[0]["variables"][:2]] == ["rdi", "rsi"] and json_lines()[0]["types"][0]["members"][1]["offset"] == 8
run: blip list $TARGETS/typed_bare handle -v
expect-stderr: has no debugging information
