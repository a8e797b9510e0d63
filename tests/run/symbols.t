# SPDX-License-Identifier: MIT
# Names that are not simply in the program's own symbol table.
as: both

case: an IFUNC of a library is counted where its calls go
target: ifunc_calls 10
with: libifunc.so.1
run: blip count -p $PID --function libifunc.so.1:picked
expect: picked 10

case: an IFUNC of the executable
target: ifunc_calls 10
with: libifunc.so.1
run: blip count -p $PID --function own
expect: own 10
check: armed.probes == 1

case: an IFUNC of the C library
target: ifunc_calls 10
with: libifunc.so.1
run: blip count -p $PID --function libc.so.6:strlen
check: table()["strlen"] >= 10 and table()["strlen"] % 10 == 0

case: IFUNCs of a static program
target: ifunc_static 10
run: blip count -p $PID --function own --function picked
expect: own 10
expect: picked 10

case: the events have the IFUNC's name
target: ifunc_calls 10
with: libifunc.so.1
run: blip record -p $PID --function picked -o t
check: len(events("picked")) == 10 == len(events())

case: an IFUNC that nothing has bound is refused
target: ifunc_calls 10
with: libifunc.so.1
run: blip count -p $PID --function never_called
error: never_called, an IFUNC: what it stands for is chosen in the process

case: main of a stripped program
target: main_pie 10
run: blip count -p $PID --function main
expect: main 10

case: main of a stripped program is where the program says
target: main_pie 10
run: blip count -p $PID --function main --function $main
check: armed.probes == 1

case: main of a stripped program that is not position independent
target: main_nopie 10
run: blip count -p $PID --function main
expect: main 10

case: main of a stripped program with endbr64
target: main_cet 10
run: blip count -p $PID --function main
expect: main 10

case: main of a stripped static program
target: main_static 10
run: blip count -p $PID --function main
expect: main 10

case: main of a stripped static position independent program
target: main_static_pie 10
run: blip count -p $PID --function main
expect: main 10

case: _start of a stripped program
target: main_pie 10
run: blip count -p $PID --function _start
expect: _start 0

case: other names of a stripped program are not found
target: main_pie 10
run: blip count -p $PID --function work
error: work

case: symbols in a file of their own
target: loop_separate 10
with: loop_separate.debug
run: blip count -p $PID --function work
expect: work 10

case: a file of symbols that belongs to another program
target: loop_separate 10
with: threads
sh: cp threads loop_separate.debug
run: blip count -v -p $PID --function work
expect-exit: 1
expect-stderr: no function matches 'work'

case: a stripped program whose symbols are missing
target: loop_separate 10
run: blip count -p $PID --function work
error: work

case: symbols packed inside of the program
target: loop_separate.xz 10
run: blip count -p $PID --function work
expect: work 10

case: all functions of one name
target: twins 10
run: blip count -p $PID --function twin
check: armed.probes == 2
check: [line.split()[-1] for line in out.splitlines() if line.startswith("twin")] == ["10", "10"]

case: of several names of a function the one the user wrote
target: twins 10
run: blip count -p $PID --function a_longer_name
expect: a_longer_name 10

case: of several names of a function the public and short one
target: twins 10
run: blip count -p $PID --function *_*n*m*
expect: a_name 10
check: armed.probes == 1

case: Rust names
needs: rustc
target: rust_legacy 10
run: blip count -p $PID --function rust_names::shop::price --function rust_names::shop::Cart::put
expect: rust_names::shop::price 10
expect: rust_names::shop::Cart::put 10

case: a Rust name with its hash
needs: rustc
target: rust_legacy 10
run: blip count -p $PID --function rust_names::shop::price::h*
expect: rust_names::shop::price 10

case: Rust names of the v0 scheme
needs: rustc
target: rust_v0 10
run: blip count -p $PID --function rust_names::shop::price --function rust_names::shop::largest
  --function "<rust_names::shop::Cart>::put"
expect: rust_names::shop::price 10
check: sum(table().values()) == 30

case: the executable was deleted
target: loop_calls 10
sh: cp loop_calls kept && rm loop_calls
run: blip count -p $PID --function work
expect: work 10
sh: mv kept loop_calls

case: the executable was replaced
target: loop_calls 10
with: threads
sh: cp threads new && mv new loop_calls
run: blip count -p $PID --function work
expect: work 10

case: the library was replaced by the same build
target: lib_calls 10
with: libcalls.so.1
sh: cp libcalls.so.1 new && mv new libcalls.so.1
run: blip count -p $PID --function lib_work
expect: lib_work 10

case: root reaches a library that was replaced
as: root
target: lib_calls 10
with: libcalls.so.1 libcalls_other.so.1
sh: mv libcalls_other.so.1 libcalls.so.1
run: blip count -p $PID --function libcalls:lib_work
expect: lib_work 10

case: root reaches a library that was deleted
as: root
target: lib_calls 10
with: libcalls.so.1
sh: rm libcalls.so.1
run: blip count -p $PID --function libcalls:lib_work
expect: lib_work 10

case: a user is told that a library was replaced
as: user
target: lib_calls 10
with: libcalls.so.1 libcalls_other.so.1
sh: mv libcalls_other.so.1 libcalls.so.1
run: blip count -p $PID --function libcalls:lib_work
error: libcalls.so.1, replaced

case: a user is told that a library was deleted
as: user
target: lib_calls 10
with: libcalls.so.1
sh: rm libcalls.so.1
run: blip count -p $PID --function lib_work
error: libcalls.so.1, deleted

case: other modules work when one was replaced
as: user
target: lib_calls 10
with: libcalls.so.1 libcalls_other.so.1
sh: mv libcalls_other.so.1 libcalls.so.1
run: blip count -p $PID --function parse_one
expect: parse_one 10

case: a program that has mapped a part of its own code once more, as node does
prepare: printf '#include <sys/mman.h>\n#include <fcntl.h>\n#include "target.h"\n__attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n + 1; }\nint main(void) { int fd = open("/proc/self/exe", O_RDONLY); char* room = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); require(mmap(room + (1 << 19), 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0x1000) != MAP_FAILED, "mmap"); say("ready"); while (next_round()) { for (int i = 0; i < 7; i++) work(i); say("done"); } return 0; }\n' > twice.c &&
  gcc -O1 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o twice twice.c
program: $DIR/twice
run: blip count -v -p $PID --function '*:work'
expect: work 7
expect-stderr: the program has mapped a part of it once more

case: symbols by build-id in the root of a chroot
prepare: mkdir -p root/bin; cp $TARGETS/loop_static root/full; objcopy --only-keep-debug root/full root/debug;
  objcopy --strip-all root/full root/bin/true; rm root/full;
  id=$$(readelf -n root/bin/true | awk '/Build ID/ {print $$3}');
  mkdir -p root/usr/lib/debug/.build-id/$${id:0:2}; mv root/debug root/usr/lib/debug/.build-id/$${id:0:2}/$${id:2}.debug;
  chmod -R a+rX root
inside: unshare --user --map-root-user chroot $DIR/root
program: /bin/true 10
run: blip count -p $PID --function work
expect: work 10

case: symbols in a file of their own beside a program in a container
needs: bwrap
prepare: mkdir -p root/bin root/proc; objcopy --only-keep-debug $TARGETS/loop_static root/bin/true.debug;
  objcopy --strip-all --add-gnu-debuglink=root/bin/true.debug $TARGETS/loop_static root/bin/true; chmod -R a+rX root
inside: bwrap --unshare-all --ro-bind $DIR/root / --proc /proc --die-with-parent --
program: /bin/true 10
run: blip count -p $PID --function work
expect: work 10

case: main and _start of stripped programs, from their start
each: main_pie main_nopie main_cet main_static main_static_pie
until: alone
run: blip count --function main --function _start -- $TARGETS/$EACH 5
expect: main 1
expect: _start 1

case: clones that the compiler made of a function are that function
target: clones 7
run: blip count -p $PID --function scale --function fill
check: counted() == {"scale.constprop.0": 7, "fill.constprop.0": 7, "fill": 7}
expect-stderr: blip: scale means scale.constprop.0
expect-stderr: blip: fill also means fill.constprop.0
run: blip trace -p $PID --return scale --max-events 2
check: all("scale.constprop.0:return" in line for line in out.splitlines())
run: blip count -p $PID --probe fill+0
check: counted() == {"fill+0x0": 7}
run: blip count -p $PID --probe scale+0
error: no function matches 'scale+0'
