# SPDX-License-Identifier: MIT
# Every instruction of real programs: what they write and how they end is what it is without blip.
timeout: 300

case: gzip
sh: seq 1 4000 > in; gzip -9 -n -c in > plain; blip count -q --max-probes 9999999 --every-instruction '*' -- gzip -9 -n -k in > counts
  && cmp in.gz plain && test $$(wc -l < counts) -gt 1000

case: gzip and its libraries
sh: seq 1 300 > in; gzip -9 -n -c in > plain; blip count -q --max-probes 9999999 --every-instruction '*:*' -- gzip -9 -n -k in > counts
  && cmp in.gz plain

case: xz
sh: seq 1 2000 > in; xz -T1 -k -c in > plain; blip count -q --max-probes 9999999 --every-instruction '*' --every-instruction 'liblzma:*' -- xz -T1 -k in
  > counts && cmp in.xz plain

case: bash
sh: echo 'f() { local i s=0; for i in $$(seq 1 30); do s=$$((s + i * i)); done; echo "$$s ${1/a/b}"; }; for w in a ab cab; do f $$w; done > $$1; exit 7' > script
sh: bash script plain; test $$? = 7; blip count -q --max-probes 9999999 --every-instruction '*' -- bash script traced > counts; test $$? = 7 && cmp plain traced

case: perl
sh: echo 'open F, ">", shift; for (1 .. 200) { $$h{$$_ % 7} .= sprintf "%x,", $$_ ** 2 } print F "$$_ $$h{$$_}\n" for sort keys %h; exit 3' > script
sh: perl script plain; test $$? = 3; blip count -q --max-probes 9999999 --every-instruction '*' -- perl script traced > counts; test $$? = 3 && cmp plain traced

case: python3
sh: echo 'import json, sys, re; open(sys.argv[1], "w").write(json.dumps({str(i): re.sub("1", "x", str(i * i)) for i in range(300)})); sys.exit(5)' > script
sh: /usr/bin/python3 -I script plain; test $$? = 5; blip count -q --max-probes 9999999 --every-instruction '*' -- /usr/bin/python3 -I script traced > counts; test $$? = 5 &&
  cmp plain traced

case: sqlite3 and its library
sh: printf '.output traced\ncreate table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) insert into t
  select i, i * i %% 97 from n; select b, count(*), sum(a) from t group by b order by 2 desc, 1; select json_group_array(a) from t where b > 90;\n' > script
sh: sqlite3 :memory: '.read script' && mv traced plain && blip count -q --max-probes 9999999 --every-instruction '*' --every-instruction 'libsqlite3:*' --
  sqlite3 :memory: '.read script' > counts && cmp plain traced && test -s plain

case: openssl and its library
sh: seq 1 2000 > in; openssl dgst -sha256 -out plain in && blip count -q --max-probes 9999999 --every-instruction '*' --every-instruction libcrypto:*
  -- openssl dgst -sha256 -out traced in > counts && cmp plain traced

case: as many instructions per function as callgrind counts
needs: valgrind
sh: valgrind --tool=callgrind --callgrind-out-file=grind --dump-instr=yes $TARGETS/counted > plain 2> log &&
  blip count -q --json --every-instruction work --every-instruction fib --every-instruction spread -- $TARGETS/counted > counts &&
  $LIB/compare_callgrind.py counts grind work fib spread
