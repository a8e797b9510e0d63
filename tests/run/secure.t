# SPDX-License-Identifier: MIT
# Checks what blip opens, makes and shows, and that no page is ever writable and executable.
as: both
timeout: 60

case: no page of the target or of blip is writable and executable at any moment
target: many
helper: $LIB/watch_maps.py $PID
wait: helper watching
until: 30ms
repeat: 3
run: blip record -p $PID --function many_* --return many_00* --context tid,comm --max-probes 20000 -o t$CYCLE
until: 10ms
run: blip count -p $PID --every-instruction many_001* --max-probes 200000
signal: TERM helper
wait: ended helper
check: helper.code() == 0
check: int(re.search(r"looked=(\d+)", helper.out())[1]) > 100
check: int(re.search(r"looked_at_blip=(\d+)", helper.out())[1]) > 10

case: no page is writable and executable while traps are used
target: hammer 2
helper: $LIB/watch_maps.py $PID
wait: helper watching
until: 20ms
repeat: 3
run: blip count --backend trap -p $PID --function tiny_*
signal: TERM helper
wait: ended helper
check: helper.code() == 0 and int(re.search(r"looked=(\d+)", helper.out())[1]) > 100

case: a trace is its owner's alone, whatever the umask
each: 000 077
target: loop_calls 10
sh: umask $EACH; blip record -p $PID --function work --duration 50ms -o t 2>/dev/null && find t -type d -printf '%m '; find t -type f -printf '%m\n' | sort -u
expect: 700 600

case: files are made anew in blip's own directory, nothing else is written, nothing is run
needs: strace
target: loop_calls 10
sh: strace -f -y -qq -o log -e trace=open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,execve,execveat,unlink
  blip record -p $PID --function work --lifecycle --duration 50ms -o t 2>/dev/null && $LIB/check_files.py log t $PID
check: out == "\n"

case: the same for another user's process, as root
as: root
target-as: user
needs: root strace
target: loop_calls 10
sh: strace -f -y -qq -o log -e trace=open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,execve,execveat,unlink
  blip record -p $PID --function work --lifecycle --duration 50ms -o t 2>/dev/null && $LIB/check_files.py log t $PID && find t ! -user 0
check: out == "\n"

case: the environment and the current directory name no file that blip reads
needs: strace
target: loop_calls 10
sh: mkdir bait; touch .blip .bliprc blip.conf bait/blip; export HOME=$DIR/bait XDG_CONFIG_HOME=$DIR/bait XDG_CACHE_HOME=$DIR/bait XDG_RUNTIME_DIR=$DIR/bait
  TMPDIR=$DIR/bait DEBUGINFOD_URLS=http://127.0.0.1:1 DEBUGINFOD_CACHE_PATH=$DIR/bait BABELTRACE_PLUGIN_PATH=$DIR/bait;
  strace -f -y -qq -o log -e trace=file,connect blip record -p $PID --function work --duration 50ms -o t 2>/dev/null && ! grep -E 'bait|bliprc|\.conf"|/tmp/blip|connect\(' log
check: out == ""

case: what lies in the place of the output is not followed
target: loop_calls 10
sh: ln -s $DIR/elsewhere link; mkfifo pipe; ln -s /dev/null null
run: blip record -p $PID --function work -o link
expect-exit: 1 2
run: blip record -p $PID --function work -o pipe
expect-exit: 1 2
run: blip record -p $PID --function work -o null
expect-exit: 1 2
sh: test ! -e elsewhere && test -p pipe && test -L link && test -L null
check: untouched(PID)

case: odd names of outputs
target: loop_calls 10
sh: n=$$(printf 'a b\nc\033[31m\303\274'); blip record -p $PID --function work --duration 20ms -o "$$n" 2> said && babeltrace2 "$$n" && ! grep -q $$'\033' said
sh: blip record -p $PID --function work --duration 20ms -o $$(printf 'x%.0s' $$(seq 255)) && babeltrace2 xxx*
sh: blip record -p $PID --function work --duration 20ms -o $$(printf 'y%.0s' $$(seq 256))
error: File name too long
sh: blip record -p $PID --function work --duration 20ms -o $$(printf 'z/%.0s' $$(seq 2100))t
expect-exit: 1
check: untouched(PID)

case: names of programs and files cannot steer the terminal
sh: n=$$(printf 'a\033]0;b\007\nc'); cp $TARGETS/loop_calls "$$n"; mkfifo in; "./$$n" 10 < in > out & pid=$$!; exec 3> in; until grep -q ready out; do sleep 0.01; done;
  (blip count -v -p $$pid --function work --duration 20ms; blip record -v -p $$pid --function work --duration 20ms; blip list -p $$pid -v work;
  blip trace --lifecycle -p $$pid --duration 50ms; blip count -p $$pid --function nope; blip count -n "$$n" --function nope; blip list "./$$n" nope) > said 2>&1 3>&-; exec 3>&-; wait $$pid
check: len(read_file("said").splitlines()) > 10
check: not re.search("[\x00-\x08\x0b-\x1f\x7f]", read_file("said"))
