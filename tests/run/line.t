# SPDX-License-Identifier: MIT
# --line: where a source line begins.
as: both
target: lines 25

case: the body of a loop
run: blip record -p $PID --line lines.c:$body -o t
reads:
exact:
check: {e.name for e in events()} == {"lines.c:%d" % body}

case: a line after the loop
run: blip count -p $PID --line lines.c:$after
check: table() == {"lines.c:%d" % after: 1}

case: all copies of an inlined line
run: blip record -p $PID --line lines.c:$inlined --context ip -o t
reads:
check: summary.events == times and len({e.ip for e in events()}) == 4 and armed.probes == 4

case: all copies of an inlined line count as one
run: blip count -p $PID --line lines.c:$inlined
check: table() == {"lines.c:%d" % inlined: times}

case: optimized code
target: lines_O2 25
run: blip count -p $PID --line lines.c:$inlined
check: table() == {"lines.c:%d" % inlined: times}

case: by more of the path, with another probe beside it
run: blip count -p $PID --line targets/lines.c:$body --function sum_up
check: table() == {"targets/lines.c:%d" % body: 25, "sum_up": 1}

case: a line of a separate debug file
prepare: cp $TARGETS/lines . && objcopy --only-keep-debug lines lines.debug && strip lines && objcopy --add-gnu-debuglink=lines.debug lines
program: $DIR/lines 25
run: blip count -p $PID --line lines.c:$body
check: table() == {"lines.c:%d" % body: 25}

case: a separate debug file with compressed sections
prepare: cp $TARGETS/lines . && objcopy --only-keep-debug --compress-debug-sections lines lines.debug && strip lines && objcopy --add-gnu-debuglink=lines.debug lines
program: $DIR/lines 25
run: blip count -p $PID --line lines.c:$body
check: table() == {"lines.c:%d" % body: 25}

case: only the line tables in a separate debug file
prepare: cp $TARGETS/lines . && objcopy --only-keep-debug lines lines.debug && strip -g lines && objcopy --add-gnu-debuglink=lines.debug lines
program: $DIR/lines 25
run: blip count -p $PID --line lines.c:$body
check: table() == {"lines.c:%d" % body: 25}

case: two source files of one name must be told apart
prepare: mkdir a b && printf 'int one(int i) {\n  return i * 3;\n}\n' > a/same.c && printf 'int two(int i) {\n  return i * 5;\n}\n' > b/same.c &&
  printf '#include "target.h"\nint one(int); int two(int); int main(void) { say("ready"); while (next_round()) { say("calls=%%d", one(1) + two(1)); say("done"); } }\n' > main.c &&
  gcc -g -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o twice main.c a/same.c b/same.c
program: $DIR/twice
run: blip count -p $PID --line same.c:2
error: 2 source files are called that, a/same.c, b/same.c
run: blip count -p $PID --line b/same.c:2
check: table() == {"b/same.c:2": 1}
