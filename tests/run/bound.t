# SPDX-License-Identifier: MIT
# Variables that several modules have: the one that the loader has chosen counts.
as: both

case: a library's variable that the executable has a copy of
until: alone
run: blip record --function libone.so:lib_step --capture 'lib_counter, lib_protected' -o t -- $TARGETS/copied
reads:
check: [(e.lib_counter, e.lib_protected) for e in events()] == [(105, 7), (205, 7), (305, 7)]

case: the same from the executable, which only declares it
until: alone
run: blip record --function step --capture 'lib_counter' -o t -- $TARGETS/copied
reads:
check: [e.lib_counter for e in events()] == [5, 105, 205]

case: by the name of its library
until: alone
run: blip trace --function step --capture 'libone.so::lib_counter, libone::lib_protected' -- $TARGETS/copied
expect-match: lib_counter = 105, .*lib_protected = 7

case: a filter by it
until: alone
run: blip record --function libone.so:lib_step --filter 'lib_counter == 205' -o t -- $TARGETS/copied
reads:
check: len(events()) == 1

case: without a copy: by the word that the loader fills in
until: alone
run: blip record --function step --capture 'lib_counter' -o t -- $TARGETS/not_copied
reads:
check: [e.lib_counter for e in events()] == [5, 105, 205]

case: an interposed definition
until: alone
run: env LD_PRELOAD=$TARGETS/libown.so blip record --function step --capture 'lib_counter' -o t -- $TARGETS/not_copied
reads:
check: [e.lib_counter for e in events()] == [1000, 1100, 1200]

case: a library that is bound to its own
until: alone
run: blip record --function step --function libone_symbolic:lib_step --capture 'lib_counter' -o t -- $TARGETS/copied $TARGETS/libone_symbolic.so
reads:
check: [e.lib_counter for e in events() if e.name == "lib_step"] == [5]

case: variables of the C library that the executable has copies of, by each of their names
until: alone
run: blip trace --function look --capture 'optind, environ == list, __environ == list, stdout == out' -- $TARGETS/options -a -b x y
expect-match: optind = 2, .* = 1, .* = 1, .* = 1
expect-match: optind = 4, .* = 1, .* = 1, .* = 1

case: the same without copies
until: alone
run: blip trace --function look --capture 'optind, environ == list, stdout == out' -- $TARGETS/options_pic -a -b x y
expect-match: optind = 4, .* = 1, .* = 1

case: a library's function sees the executable's copy
until: alone
run: blip trace --function libc.so.6:getopt --capture optind -- $TARGETS/options -a -b x y
expect-match: optind = 1
expect-match: optind = 2
expect-match: optind = 4

case: two libraries of one file, in namespaces of their own
target: namespaces $TARGETS/libone_symbolic.so
run: blip record -p $PID --function libone_symbolic:lib_step --capture lib_counter -o t
reads:
check: [e.lib_counter for e in events()] == [5, 105, 5, 7]
