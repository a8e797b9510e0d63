# SPDX-License-Identifier: MIT
# Programs from Debian at work: attached, traced, left alone, and their output is that of an untraced run.
as: both
state: loose
timeout: 120

case: sqlite3
program: /usr/bin/sqlite3 :memory:
feed: sqlite
until: 5 chunks
run: blip record -p $PID --context tid --context reg:rdi --function libsqlite3.so.0:sqlite3_step
  --function libsqlite3.so.0:sqlite3_prepare* --function libsqlite3.so.0:sqlite3_column_* --function libc.so.6:fwrite -o t
reads:
check: len(events("sqlite3_step")) > 0 and {e.vtid for e in events()} == {PID}

case: sqlite3, ten sessions
program: /usr/bin/sqlite3 :memory:
feed: sqlite
until: 3 chunks
repeat: 10
run: blip count -p $PID --function libsqlite3.so.0:sqlite3_* --function libc.so.6:mem*

case: gzip
program: /usr/bin/gzip -9
feed: text
until: 50 chunks
run: blip record -p $PID --function libc.so.6:read --function libc.so.6:write --function libc.so.6:mem* -o t
reads:
check: len(events("read")) > 0

case: perl
program: /usr/bin/perl -ne "$$h{(split)[1]} += length; $$s = ($$s * 31 + ord) % 1000003 for split //; print qq($$. $$s @{[map {qq($$_=$$h{$$_})} sort keys %h]}\n) if $$. % 100 == 0"
feed: text
until: 3 chunks
run: blip record -p $PID --function Perl_* --context reg:rdi --num-subbuf 2 --subbuf-size 32k -o t
reads:
check: len(events()) > 100

case: perl, ten sessions
program: /usr/bin/perl -ne "$$s = ($$s * 31 + ord) % 1000003 for split //; print qq($$. $$s\n) if $$. % 100 == 0"
feed: text
until: 5 chunks
repeat: 10
run: blip count -p $PID --function Perl_* --function libc.so.6:*alloc

case: python3
program: /usr/bin/python3 -X utf8 $LIB/filter.py
feed: text
until: 3 chunks
run: blip record -p $PID --function PyDict_* --function PyObject_* --context tid --num-subbuf 2 --subbuf-size 32k -o t
reads:
check: len(events()) > 100

case: python3, all exported functions, ten sessions
program: /usr/bin/python3 -X utf8 $LIB/filter.py
feed: text
until: 3 chunks
repeat: 10
run: blip count -p $PID --function Py* --function _Py*
check: armed.probes > 1000
