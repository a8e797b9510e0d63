# SPDX-License-Identifier: MIT
# Debugging information that is not in the program: made smaller by dwz, split (.dwo), separate. DWARF 4 and 5, gcc and clang.
as: both
timeout: 120

case: made smaller by dwz
needs: dwz
prepare: cp $TARGETS/typed . && dwz typed
program: $DIR/typed 4
run: blip record -p $PID --function handle --args --capture 'path = req->path' -o t
reads:
check: [(e.n, e.who, e.path) for e in events()] == [(0, "a name", "/admin"), (1, "a name", "/last"), (2, "", "/admin"), (3, "a name", "/last")]

case: in common with another program, by its path
needs: dwz
each: typed typed_o0
prepare: cp $TARGETS/typed $TARGETS/typed_o0 $TARGETS/inlined . && dwz -m common.debug -M $DIR/common.debug typed typed_o0 inlined && readelf -S typed | grep -q gnu_debugaltlink
program: $DIR/$EACH 4
run: blip record -p $PID --function handle --args --capture 'path = req->path' -o t
reads:
check: [(e.n, e.who, e.path) for e in events()] == [(0, "a name", "/admin"), (1, "a name", "/last"), (2, "", "/admin"), (3, "a name", "/last")]

case: in common with another program, beside it, in separate debug files
needs: dwz
prepare: cp $TARGETS/typed $TARGETS/typed_o0 . && for f in typed typed_o0; do objcopy --only-keep-debug $f $f.debug; strip $f; done &&
  dwz -m common.debug -M common.debug typed.debug typed_o0.debug && objcopy --add-gnu-debuglink=typed.debug typed
program: $DIR/typed 4
run: blip record -p $PID --function handle --args -o t
reads:
check: [(e.n, e.who) for e in events()] == [(0, "a name"), (1, "a name"), (2, ""), (3, "a name")]

case: inlined functions of a file that dwz has made smaller
needs: dwz
prepare: cp $TARGETS/inlined $TARGETS/inlined_o0 $TARGETS/inlined_d4 . && dwz -m common.debug -M $DIR/common.debug inlined inlined_o0 inlined_d4
program: $DIR/inlined 5
run: blip count -p $PID --function tiny
check: counted() == {"tiny (inlined in in_loop)": 5, "tiny (inlined in twice)": 2}

case: what was put apart is not there
needs: dwz
prepare: cp $TARGETS/typed $TARGETS/typed_o0 . && dwz -m common.debug -M $DIR/common.debug typed typed_o0 && rm common.debug
program: $DIR/typed 4
run: blip count -p $PID --function handle -v
check: counted() == {"handle": 4}
expect-stderr: needs what dwz has put into

case: what was put apart is of another build
needs: dwz
prepare: cp $TARGETS/typed $TARGETS/typed_o0 . && dwz -m common.debug -M $DIR/common.debug typed typed_o0 && cp $TARGETS/inlined common.debug
program: $DIR/typed 4
run: blip count -p $PID --function handle -v
check: counted() == {"handle": 4}
expect-stderr: it is of another build (the build-ids differ)

# A path that the target has chosen: libdw would open it, and wait there for ever.
case: what was put apart is a pipe
needs: dwz
prepare: cp $TARGETS/inlined $TARGETS/inlined_o0 $TARGETS/inlined_d4 . && dwz -m common.debug -M $DIR/common.debug inlined inlined_o0 inlined_d4 && rm common.debug && mkfifo common.debug
program: $DIR/inlined 5
run: timeout 60 blip record -p $PID --function in_loop --context backtrace -o t
run: timeout 60 blip view t
expect: main
run: timeout 60 blip list -v $DIR/inlined in_loop
expect: in_loop

case: split, values by name
each: -gdwarf-4 -gdwarf-5
prepare: gcc -g $EACH -gsplit-dwarf -O2 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o typed $TARGETS/../../tests/targets/typed.c
program: $DIR/typed 4
run: blip record -p $PID --function handle --args --capture 'path = req->path, global_counter' -o t
reads:
check: [(e.n, e.who, e.path) for e in events()] == [(0, "a name", "/admin"), (1, "a name", "/last"), (2, "", "/admin"), (3, "a name", "/last")]

case: split by clang
needs: clang-14
each: -gdwarf-4 -gdwarf-5
prepare: clang-14 -g $EACH -gsplit-dwarf -O0 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -c $TARGETS/../../tests/targets/typed.c && clang-14 -o typed typed.o
program: $DIR/typed 4
run: blip record -p $PID --function handle --args -o t
reads:
check: [(e.n, e.who) for e in events()] == [(0, "a name"), (1, "a name"), (2, ""), (3, "a name")]

case: split, inlined functions
each: -gdwarf-4 -gdwarf-5
prepare: gcc -g $EACH -gsplit-dwarf -O2 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o inlined $TARGETS/../../tests/targets/inlined.c
program: $DIR/inlined 5
run: blip count -p $PID --function tiny
check: counted() == {"tiny (inlined in in_loop)": 5, "tiny (inlined in twice)": 2}

case: a part that others may change is not read
prepare: gcc -g -gsplit-dwarf -O2 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o typed $TARGETS/../../tests/targets/typed.c && chmod 666 *.dwo
program: $DIR/typed 4
run: blip record -p $PID --function handle --args -o t
reads:
check: not hasattr(events()[0], "who")

case: a part that is a FIFO, or a link, does not hold blip up
each: mkfifo ln
prepare: gcc -g -gsplit-dwarf -O2 -D_GNU_SOURCE -I$TARGETS/../../tests/targets -o typed $TARGETS/../../tests/targets/typed.c &&
  f=`ls *.dwo` && mv $f kept && if [ $EACH = ln ]; then ln -s $DIR/kept $f; else mkfifo $f; fi
program: $DIR/typed 4
run: blip record -p $PID --function handle --args -o t
reads:
check: not hasattr(events()[0], "who")

case: fetched by debuginfod, for those who ask for it
needs: debuginfod-find
prepare: cp $TARGETS/typed . && id=`readelf -n typed | sed -n 's/.*Build ID: //p'` && mkdir -p buildid/$id && objcopy --only-keep-debug typed buildid/$id/debuginfo && strip -g typed
program: $DIR/typed 4
run: env DEBUGINFOD_URLS=file://$DIR DEBUGINFOD_CACHE_PATH=$DIR/cache BLIP_DEBUGINFOD=1 blip record -p $PID --function handle --args -o t
reads:
check: [(e.n, e.who) for e in events()] == [(0, "a name"), (1, "a name"), (2, ""), (3, "a name")]
run: env DEBUGINFOD_URLS=file://$DIR DEBUGINFOD_CACHE_PATH=$DIR/other blip count -p $PID --function handle
sh: ls $DIR/other 2>&1 || true
expect: No such file

case: debuginfod has another build, or none
needs: debuginfod-find
each: wrong none
prepare: cp $TARGETS/typed . && id=`readelf -n typed | sed -n 's/.*Build ID: //p'` && mkdir -p buildid/$id && if [ $EACH = wrong ]; then cp $TARGETS/inlined buildid/$id/debuginfo; fi; strip -g typed
program: $DIR/typed 4
run: env DEBUGINFOD_URLS=file://$DIR DEBUGINFOD_CACHE_PATH=$DIR/cache BLIP_DEBUGINFOD=1 blip count -p $PID --function handle
check: counted() == {"handle": 4}
run: env DEBUGINFOD_URLS=file://$DIR DEBUGINFOD_CACHE_PATH=$DIR/cache BLIP_DEBUGINFOD=1 blip record -p $PID --function handle --locals -o t
error: has no debugging information, debuginfod

case: fetched by debuginfod over the network
needs: debuginfod-find
prepare: cp $TARGETS/typed . && id=`readelf -n typed | sed -n 's/.*Build ID: //p'` && mkdir -p buildid/$id && objcopy --only-keep-debug typed buildid/$id/debuginfo && strip -g typed
program: $DIR/typed 4
helper: $LIB/serve_debug.py
wait: helper listening
run: bash -c 'export DEBUGINFOD_URLS=http://127.0.0.1:`cat port` DEBUGINFOD_CACHE_PATH=$DIR/cache BLIP_DEBUGINFOD=1; exec blip record -p $PID --function handle --args -o t'
reads: t
check: [(e.n, e.who) for e in events()] == [(0, "a name"), (1, "a name"), (2, ""), (3, "a name")]

case: Ctrl-C while debuginfod sends
needs: debuginfod-find
prepare: cp $TARGETS/typed . && id=`readelf -n typed | sed -n 's/.*Build ID: //p'` && mkdir -p buildid/$id && objcopy --only-keep-debug typed buildid/$id/debuginfo && strip -g typed && echo id=$id
program: $DIR/typed 4
helper: $LIB/serve_debug.py --stall
wait: helper listening
launch: bash -c 'export DEBUGINFOD_URLS=http://127.0.0.1:`cat port` DEBUGINFOD_CACHE_PATH=$DIR/cache BLIP_DEBUGINFOD=1; exec blip trace -p $PID --function handle --args'
wait: helper half
end: INT
expect-exit: 0
expect-not: handle:
sh: pgrep -f '[d]ebuginfod-find debuginfo $id' || echo nobody asks any more
expect: nobody asks any more

case: an index of names is made once and kept, and tells what is found without
sh: echo 'for f in blip::Fd::reset blip::dwarf::contains none_such; do blip list --json $$(which blip) $$f 2> said; echo $$?; done' > look &&
  BLIP_CACHE=off sh look > plain && ! ls .cache && sh look > made && sh look > kept && grep -q inlined plain && cmp plain made && cmp plain kept
sh: f=$$(ls .cache/blip/*.names) && cp $$f whole && truncate -s 4000 $$f && sh look > torn && cmp plain torn && cmp whole $$f
sh: rm -r .cache && : > .cache && sh look > none && cmp plain none
