# SPDX-License-Identifier: MIT
# Room for what comes later: made by what was asked for, and what has none is refused for itself.
as: both
timeout: 90
state: text fds threads left
prepare: python3 -c 'for i in range(1500): print("int big_%d(int n) { return n + %d; }" % (i, i))' > big.c && printf 'int small_1(int n) { return n + 1; }\nint small_2(int n) { return n + 2; }\n' > small.c &&
  printf '#include <dlfcn.h>\n#include "target.h"\ntypedef int (*F)(int);\nstatic F get(const char* lib, const char* name) { void* h = dlopen(lib, RTLD_NOW); require(h != 0, lib); return (F)dlsym(h, name); }\nstatic void round_of_work(void) { F big = get("./libbig.so", "big_7"); for (int i = 0; i < 3; i++) require(big(i) == i + 7, "big"); F small = get("./libsmall.so", "small_1"); for (int i = 0; i < 2; i++) require(small(i) == i + 1, "small"); }\nint main(int argc, char** argv) { (void)argv; if (argc > 1) { round_of_work(); return 7; } say("ready"); while (next_round()) { round_of_work(); say("done"); } return 0; }\n' > late.c &&
  gcc -shared -fPIC -o libbig.so big.c && gcc -O1 -shared -fPIC -o libsmall.so small.c && gcc -g -O1 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o late late.c
program: $DIR/late

case: a large library, and the next one
run: blip count -p $PID --function round_of_work --function 'libbig:big_*' --function 'libsmall:small_*'
check: table()["big_7"] == 3 and table()["small_1"] == 2 and table()["big_8"] == 0
expect-stderr: libsmall.so: armed

case: recorded
run: blip record -p $PID --function round_of_work --function 'lib*:big_*' --function 'lib*:small_*' -o t
reads:
check: [e.name for e in events()] == ["round_of_work"] + ["big_7"] * 3 + ["small_1"] * 2

case: their returns
run: blip record -p $PID --return round_of_work --return 'libbig:big_*' --return 'libsmall:small_*' -o t
reads:
check: [(e.name, e.ret & 0xff) for e in events() if "round" not in e.name] == [("big_7:return", 7 + i) for i in range(3)] + [("small_1:return", 1), ("small_1:return", 2)]

case: how long their calls take
run: blip count -p $PID --latency --function round_of_work --function 'libbig:big_*' --function 'libsmall:small_*' --json
check: {f["name"]: (f["calls"], f["open"]) for f in json_lines() if f["calls"]} == {"round_of_work": (1, 0), "big_7": (3, 0), "small_1": (2, 0)}

case: how long the calls of everything take, also of what comes later
timeout: 120
run: blip count -p $PID --latency --function '*:*' --max-probes 200000 --json
check: {f["name"]: (f["calls"], f["open"]) for f in json_lines() if f["name"] in ("round_of_work", "big_7", "small_1", "small_2")} == {"round_of_work": (1, 0), "big_7": (3, 0), "small_1": (2, 0), "small_2": (0, 0)}
expect-stderr: libsmall.so: armed

case: returns that do not fit, and the next library
run: blip record -p $PID --return round_of_work --return 'libbig:big_*' --return 'libsmall:small_*' --max-probes 1000 -o t
reads:
check: sorted(e.name for e in events()) == ["round_of_work:return"] + ["small_1:return"] * 2
expect-stderr: libbig.so: not probed:

case: one that does not fit is refused alone, and the advice is true
run: blip count -p $PID --function round_of_work --function 'libbig:big_*' --function 'libsmall:small_*' --max-probes 1000
check: table()["small_1"] == 2 and "big_7" not in table()
expect-stderr: libbig.so: not probed:
expect-stderr: say --max-probes 1501
run: blip count -p $PID --function round_of_work --function 'libbig:big_*' --function 'libsmall:small_*' --max-probes 1600
check: table()["small_1"] == 2 and table()["big_7"] == 3

case: a command ends as it would
until: end
run: blip record --return main --return 'libbig:big_*' --return 'libsmall:small_*' -o t -- ./late once
expect-exit: 7
reads:
check: len(events("big_7:return")) == 3 and len(events("small_1:return")) == 2

case: a static command's end is its own
until: alone
run: blip record --max-probes 200000 --return '*:*' -o t -- $TARGETS/spawned_static 20 5
expect-exit: 5
reads:
check: len(events("work:return")) == 21

case: returns that do not fit into a command, whose end is its own
until: end
run: blip record --return main --return 'libbig:big_*' --return 'libsmall:small_*' --max-probes 1000 -o t -- ./late once
expect-exit: 7
reads:
check: sorted(e.name for e in events()) == ["main:return"] + ["small_1:return"] * 2
expect-stderr: libbig.so: not probed:

case: events that the description left in the process has no room for
run: sh -c 'exec blip record -p $PID --function round_of_work --function "libbig:big_*" --capture "$$(printf %01500d 0 | tr 0 a) = arg0" -o t'
expect-stderr: there is no room in the process to describe all of its events
check: len(events()) == 1 + 3
