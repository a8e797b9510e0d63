# SPDX-License-Identifier: MIT
# Every instruction of real programs and of all their libraries, libc and the loader among them: what they write and how
# they end is what it is without blip; and nearly all instructions are armed, so that refusing is no way out.
timeout: 300

case: gzip
sh: seq 1 4000 > in; gzip -9 -n -c in > plain
sh: blip count --max-probes 9999999 --every-instruction '*:*' -- gzip -9 -n -k in > counts 2> said && cmp in.gz plain && $LIB/armed_share.py 99.8 said

case: xz
sh: seq 1 2000 > in; xz -T1 -k -c in > plain
sh: blip count --max-probes 9999999 --every-instruction '*:*' -- xz -T1 -k in > counts 2> said && cmp in.xz plain && $LIB/armed_share.py 99.8 said

case: bash
sh: echo 'f() { local i s=0; for i in $$(seq 1 30); do s=$$((s + i * i)); done; echo "$$s ${1/a/b}"; }; for w in a ab cab; do f $$w; done > $$1; exit 7' > script
sh: bash script plain; test $$? = 7
sh: blip count --max-probes 9999999 --every-instruction '*:*' -- bash script traced > counts 2> said; test $$? = 7 && cmp plain traced && $LIB/armed_share.py 99.8 said

case: perl
sh: echo 'open F, ">", shift; for (1 .. 200) { $$h{$$_ % 7} .= sprintf "%x,", $$_ ** 2 } print F "$$_ $$h{$$_}\n" for sort keys %h; exit 3' > script
sh: perl script plain; test $$? = 3
sh: blip count --max-probes 9999999 --every-instruction '*:*' -- perl script traced > counts 2> said; test $$? = 3 && cmp plain traced && $LIB/armed_share.py 99.8 said

case: python3
sh: echo 'import json, sys, re; open(sys.argv[1], "w").write(json.dumps({str(i): re.sub("1", "x", str(i * i)) for i in range(300)})); sys.exit(5)' > script
sh: /usr/bin/python3 -I script plain; test $$? = 5
sh: blip count --max-probes 9999999 --every-instruction '*:*' -- /usr/bin/python3 -I script traced > counts 2> said; test $$? = 5 && cmp plain traced && $LIB/armed_share.py 99.8 said

case: sqlite3
sh: printf '.output traced\ncreate table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) insert into t
  select i, i * i %% 97 from n; select b, count(*), sum(a) from t group by b order by 2 desc, 1; select json_group_array(a) from t where b > 90;\n' > script
sh: sqlite3 :memory: '.read script' && mv traced plain && test -s plain
sh: blip count --max-probes 9999999 --every-instruction '*:*' -- sqlite3 :memory: '.read script' > counts 2> said && cmp plain traced && $LIB/armed_share.py 99.8 said

case: openssl
sh: seq 1 2000 > in; openssl dgst -sha256 -out plain in
sh: blip count --max-probes 9999999 --every-instruction '*:*' -- openssl dgst -sha256 -out traced in > counts 2> said && cmp plain traced && $LIB/armed_share.py 99.8 said

case: blip itself
sh: cp $$(which blip) own && strip -g own && ./own list -q --coverage -v --json $TARGETS/odd > plain
sh: blip record --max-probes 9999999 --num-subbuf 2 --subbuf-size 4k --every-instruction 'blip::x86::*' --every-instruction 'blip::elf::*' -o t --
  ./own list -q --coverage -v --json $TARGETS/odd > traced 2> said && cmp plain traced && $LIB/armed_share.py 99.8 said

case: each instruction of gzip runs as often as callgrind counts
needs: valgrind
sh: seq 1 300 > in; valgrind --tool=callgrind --callgrind-out-file=grind --dump-instr=yes --skip-plt=no gzip -9 -n -k in 2> log && rm in.gz &&
  blip count -q --json --max-probes 9999999 --every-instruction '*' -- gzip -9 -n -k in > counts &&
  blip list -q --json $$(which gzip) > listed && $LIB/compare_callgrind.py counts grind --each $$(which gzip) listed

case: as many instructions per function as callgrind counts
needs: valgrind
sh: valgrind --tool=callgrind --callgrind-out-file=grind --dump-instr=yes $TARGETS/counted > plain 2> log &&
  blip count -q --json --every-instruction work --every-instruction fib --every-instruction spread -- $TARGETS/counted > counts &&
  $LIB/compare_callgrind.py counts grind work fib spread
