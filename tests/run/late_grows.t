# SPDX-License-Identifier: MIT
# Many libraries come after the start, some of them large: all that a pattern names is probed, up to --max-probes.
as: both
timeout: 300
state: text fds threads left
prepare: python3 -c 'for i in range(600): print("int late_%d(int n) { return n + %d; }" % (i, i))' > big.c && printf 'int late_0(int n) { return n; }\nint late_1(int n) { return n + 1; }\n' > small.c &&
  printf '#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include "target.h"\ntypedef int (*F)(int);\nstatic void load(const char* kind, int count) { for (int i = 0; i < count; i++) { char name[64]; snprintf(name, sizeof name, "./lib%%s_%%03d.so", kind, i); void* h = dlopen(name, RTLD_NOW | RTLD_LOCAL); require(h != 0, name); F f = (F)dlsym(h, "late_1"); require(f(i) == i + 1, "late_1"); } }\nPROBED static void round_of_work(int big, int small) { load("big", big); load("small", small); }\nint main(int argc, char** argv) { require(argc == 3, "how many libraries"); say("ready"); while (next_round()) { round_of_work(atoi(argv[1]), atoi(argv[2])); say("done"); } return 0; }\n' > grow.c &&
  gcc -O1 -shared -fPIC -o big.so big.c && gcc -O1 -shared -fPIC -o small.so small.c && gcc -g -O1 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o grow grow.c &&
  for i in $(seq -f %03g 0 7); do cp big.so libbig_$i.so; done && for i in $(seq -f %03g 0 279); do cp small.so libsmall_$i.so; done

case: large ones are counted, none of them is refused
program: $DIR/grow 8 0
run: blip count -p $PID --function round_of_work --function 'libbig_*:late_*'
check: sum(int(l.split()[-1]) for l in out.splitlines() if l.startswith("late_1 ")) == 8 and err.count(".so: armed 600 probes") == 8 and "not probed" not in err and "no room" not in err

case: the returns of large ones
program: $DIR/grow 8 0
run: blip record -p $PID --return round_of_work --return 'libbig_*:late_*' -o t
reads:
check: sorted(e.ret & 0xff for e in events() if "late" in e.name) == list(range(1, 9)) and err.count(".so: armed 600 probes") == 8 and "not probed" not in err

case: one name that stands for more functions than anybody expects
program: $DIR/grow 0 280
run: blip record -p $PID --function round_of_work --function 'libsmall_*:late_1' -o t
reads:
check: len(events("late_1")) == 280 and err.count(".so: armed 1 probes") == 280 and "not probed" not in err

case: as many as are allowed, and what does not fit is refused with the number that fits
program: $DIR/grow 3 1
run: blip count -p $PID --function round_of_work --function 'lib*:late_*' --max-probes 1500
check: sum(int(l.split()[-1]) for l in out.splitlines() if l.startswith("late_1 ")) == 3 and err.count(".so: armed 600 probes") == 2
expect-stderr: libbig_002.so: not probed:
expect-stderr: say --max-probes 1801
