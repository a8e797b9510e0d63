# SPDX-License-Identifier: MIT
# One program in all the ways people build programs, and programs of other languages: the right answer, exact counts, a
# readable trace, nothing left behind; and how much of each can be armed, with a floor, so that refusing is no way out.
as: both
timeout: 60

case: recorded
each: loop_Os loop_O3 loop_pg loop_fentry loop_patchable loop_patchable_before loop_no_plt loop_lto loop_asan loop_ubsan
  loop_frame_pointer loop_stack_protector loop_fixed loop_based loop_one_segment loop_writable_text loop_large_model loop_sections
target: $EACH 500
run: blip record -p $PID --function work --context reg:rdi --context tid -o t
exact:
check: [(e.rdi, e.vtid) for e in events()] == [(i, PID) for i in range(500)]

case: all functions at once
each: loop_Os loop_O3 loop_pg loop_fentry loop_patchable loop_patchable_before loop_no_plt loop_lto loop_asan loop_ubsan
  loop_frame_pointer loop_stack_protector loop_fixed loop_based loop_one_segment loop_writable_text loop_large_model loop_sections loop_cet loop_nopie
target: $EACH 200
run: blip count -p $PID --function *
check: table()["work"] == 200
coverage: 90

case: all functions of a static program
each: loop_static loop_static_pie
target: $EACH 200
run: blip count -p $PID --function *
check: table()["work"] == 200
coverage: 96

case: ten sessions
each: loop_pg loop_patchable_before loop_asan loop_large_model loop_writable_text
target: $EACH 200
repeat: 10
run: blip count -p $PID --function work
expect: work 200

# ---- musl ----

case: musl, recorded
each: loop_musl loop_musl_static
needs: musl-gcc
target: $EACH 500
run: blip record -p $PID --function work --context reg:rdi --context tid -o t
exact:
check: [(e.rdi, e.vtid) for e in events()] == [(i, PID) for i in range(500)]

case: musl, all functions
each: loop_musl_static
needs: musl-gcc
target: $EACH 200
run: blip count -p $PID --function *
check: table()["work"] == 200
# 2 of 88 are refused: the way back from signal handlers, and a hlt.
coverage: 97

case: musl, the library's functions
needs: musl-gcc
target: loop_musl 200
run: blip count -p $PID --function work --function libc.so:*
check: table()["work"] == 200 and table()["vsnprintf"] >= 1
coverage: 98

case: musl, threads
each: threads_musl threads_musl_static
needs: musl-gcc
target: $EACH 4 500
run: blip record -p $PID --function work --context tid -o t
exact:

# ---- modules far apart, much code ----

case: modules more than 2 GiB apart, all probed at once
target: far_libs 300
with: libfar_one.so libfar_two.so
run: blip record -p $PID --function work --function libfar_one:far_one --function libfar_two:far_two -o t
exact:
check: len(events("work")) == len(events("far_one")) == len(events("far_two")) == 300

case: 96 MiB of code
timeout: 120
target: huge_text
run: blip record -p $PID --function huge_* --function main -o t
reads:
check: armed.probes == 98 and armed.refused == 0
check: [len(events(f"huge_{i:03}")) for i in range(96)] == [1] * 48 + [2] * 48

# ---- where code lies in parts ----

case: hot and cold halves of a function
target: hot_cold 800
run: blip record -p $PID --function split --function cold --context reg:rdi -o t
exact:
check: len(events("split")) == splits and len(events("cold")) == colds

case: a cold half is refused by name, with the reason
target: hot_cold 800
run: blip count -p $PID --function split --function split.cold -v
expect-stderr: refused split.cold: the cold part of a function is jumped to, not called
check: table()["split"] == splits

case: C++ with exceptions
each: throws throws_O0 throws_static
target: $EACH 600
run: blip record -p $PID --function shop::inner --function shop::middle --function shop::outer -o t
exact:

# ---- clang ----

case: clang
each: loop_clang loop_clang_O3
needs: clang-14
target: $EACH 500
run: blip record -p $PID --function work --context reg:rdi -o t
exact:
check: [e.rdi for e in events()] == list(range(500))

# ---- Rust ----

case: Rust
each: rust_calls rust_debug
needs: rustc
target: $EACH 600
state: maps text fds left loose
run: blip record -p $PID --function work --context tid --context reg:rdi -o t
exact:
check: sorted(e.rdi for e in events()) == sorted(2 * list(range(300)))

case: Rust, by its demangled name
each: rust_calls rust_debug
needs: rustc
target: $EACH 600
state: maps text fds left loose
run: blip count -p $PID --function *::mixer::Mixer::mix
check: table()["rust_calls::mixer::Mixer::mix"] == 600

case: Rust, all functions
each: rust_calls rust_debug
needs: rustc
target: $EACH 100
state: maps text fds left loose
run: blip count -p $PID --function *
check: table()["work"] == 100
coverage: 99

# ---- Go ----

case: Go, recorded
each: go_calls go_pie
needs: go
target: $EACH 4000
state: maps text left loose
run: blip record -p $PID --function main.work --context tid --context reg:rax -o t
exact:
check: sorted(e.rax for e in events()) == sorted(4 * list(range(1000)))

case: Go, a function whose stack grows is counted once per call
each: go_calls go_pie
needs: go
target: $EACH 4000
state: maps text left loose
run: blip count -p $PID --function main.deep --function main.wide --function main.work --function main.(*box).add
check: table()["main.wide"] == table()["main.work"] == 4000
check: table()["main.deep"] == 4 * sum(n % 40 + 1 for n in range(1000))
check: table()["main.(*box).add"] == 4000

case: Go, all functions of the program
needs: go
target: go_calls 4000
state: maps text left loose
run: blip count -p $PID --function main.*
check: table()["main.work"] == 4000
check: armed.probes >= 5

case: Go, all functions at once
each: go_calls go_pie
needs: go
target: $EACH 4000
state: maps text left loose
run: blip count -p $PID --function *
check: table()["main.work"] == 4000
coverage: 70

case: Go, twenty sessions
needs: go
target: go_calls 4000
state: maps text left loose
repeat: 20
run: blip count -p $PID --function main.* --function runtime.* --function fmt.*
check: table()["main.work"] == 4000

case: Go, stripped: its own table has the names
needs: go
target: go_stripped 4000
state: maps text left loose
run: blip record -p $PID --function main.work --function main.wide -o t
reads:
check: len(events("main.work")) == len(events("main.wide")) == 4000

case: Go, what is refused says why
needs: go
target: go_calls 400
state: maps text left loose
run: blip count -p $PID --function main.work --function runtime.* -v
expect-stderr: it may run on the last bytes of a goroutine's stack, where a pad has no room
check: table()["main.work"] == 400

case: a Go HTTP server
needs: go
target: go_http 200
state: maps text left loose
run: blip record -p $PID --function main.handle --function net/http.(*conn).readRequest --context tid -o t
reads:
check: len(events("main.handle")) == calls and len(events("net/http.(*conn).readRequest")) >= calls

case: a Go HTTP server, all of its functions
needs: go
target: go_http 100
state: maps text left loose
run: blip count -p $PID --function * --max-probes 20000
check: table()["main.handle"] == calls
coverage: 82
check: armed.probes > 3000

# ---- a distribution's static, stripped program ----

case: busybox
needs: busybox readelf
state: loose
prepare: echo "functions=$$(readelf --debug-dump=frames /bin/busybox 2>/dev/null |
  sed -n 's/.* FDE .* pc=0*\([0-9a-f]*\)\.\..*/--function 0x\1/p' | sort -u | head -2000 | tr '\n' ' ')"
program: /bin/busybox awk "{ n[$$2] += $$3 % 1009; s = (s * 31 + $$3) % 1000003 } NR % 200 == 0 { print NR, s, n[\"pad\"], n[\"ring\"] }"
feed: text
until: 5 chunks
run: blip count -p $PID $functions
coverage: 99
check: armed.probes > 1000
check: sum(table().values()) > 1000
