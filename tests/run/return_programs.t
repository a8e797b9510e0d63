# SPDX-License-Identifier: MIT
# Programs from Debian with return probes on everything: their output is that of an untraced run, and as many returns are
# seen as entries where nothing is left open.
as: both
state: loose
timeout: 120

case: sqlite3
program: /usr/bin/sqlite3 :memory:
feed: sqlite
until: 5 chunks
run: blip record -p $PID --return libsqlite3.so.0:sqlite3_* --num-subbuf 2 --subbuf-size 64k -o t
reads:
check: len(events("sqlite3_step:return")) > 0

case: as many returns as entries, but for a call that is open at the end
program: /usr/bin/sqlite3 :memory:
feed: sqlite
until: 5 chunks
run: blip count -p $PID --return libsqlite3.so.0:sqlite3_step --function libsqlite3.so.0:sqlite3_step
check: table()["sqlite3_step"] - table()["sqlite3_step:return"] in (0, 1) and table()["sqlite3_step"] > 0

case: gzip, the functions of libc
program: /usr/bin/gzip -9
feed: text
until: 30 chunks
run: blip count -p $PID --return libc.so.6:*
check: armed.probes > 1000

case: python3, everything that has a name
program: /usr/bin/python3 -X utf8 $LIB/filter.py
feed: text
until: 3 chunks
run: blip count -p $PID --return Py* --return _Py* --max-probes 100000
check: armed.probes > 1000

case: perl
program: /usr/bin/perl -ne "$$s = ($$s * 31 + ord) % 1000003 for split //; print qq($$. $$s\n) if $$. % 100 == 0"
feed: text
until: 5 chunks
run: blip record -p $PID --return Perl_* --num-subbuf 2 --subbuf-size 64k -o t
reads:
check: len(events()) > 100

case: a command from its first instruction to its end
until: alone
run: blip count --return libc.so.6:* --return * --max-probes 100000 -- /usr/bin/sort /etc/passwd
expect: root
check: armed.probes > 1000
