# SPDX-License-Identifier: MIT
# Five thousand probes at once.
as: both
target: many
timeout: 60

case: five thousand functions recorded
run: blip record -p $PID --function many_0* --context reg:rdi -o t
check: armed.probes + armed.refused == 5000
check: armed.refused <= 150
reads:
check: len(events()) == armed.probes
check: len({e.name for e in events()}) == armed.probes or hasattr(events()[0], "ip") or armed.probes > 4096

case: five thousand functions recorded, and seen by their names when the process and its files have gone
sh: cp $TARGETS/many gone && mkfifo in && (./gone < in > out & echo $$! > pid) && exec 3> in && until grep -q ready out; do sleep 0.05; done;
  blip record -p $$(cat pid) --function 'many_0*' --return 'many_0*' -o t 2> err 3>&- & blip=$$!; until grep -q armed err; do sleep 0.05; done;
  echo >&3; until grep -q done out; do sleep 0.05; done; exec 3>&-; wait $$blip; rm gone;
  blip view t > text; grep -c ' many_0[0-9]*: {' text; grep -c ' many_0[0-9]*:return: {' text; ! grep -q ' many_0\*' text;
  blip view t --json > json; grep -c '"name":"many_0[0-9]*",' json; grep -c '"name":"many_0[0-9]*:return",' json; ! grep -q '"name":"many_0\*' json
check: len(set(re.findall(r"\d+", out))) == 1 and int(out.split()[0]) > 4096
sh: blip view t --json --function many_00007
check: [e["name"] for e in json_lines()] == ["many_00007", "many_00007:return"] and all(e["place"].startswith("many_00007") for e in json_lines())

case: names stay whatever ends blip and the process
sh: cp $TARGETS/many gone && mkfifo in && (./gone < in > out & echo $$! > pid) && exec 3> in && until grep -q ready out; do sleep 0.05; done;
  (exec blip record -p $$(cat pid) --function 'many_0*' -o t 2> err 3>&-) & blip=$$!; until grep -q armed err; do sleep 0.05; done;
  echo >&3; until grep -q done out; do sleep 0.05; done; until [ -n "$$(blip view t 2>/dev/null)" ]; do sleep 0.05; done;
  kill -9 $$blip; wait $$blip 2>/dev/null; exec 3>&-; wait; rm gone;
  blip view t --json > json; wc -l < json; grep -c '"name":"many_[0-9]*","place":"many_[0-9]*"' json; babeltrace2 --component sink.text.details --params compact=no t | grep -c blip_statedump:place
check: len(set(out.split()[:2])) == 1 and int(out.split()[0]) > 100

case: live events of five thousand functions have their names
run: blip trace -p $PID --function many_0* --max-events 3
check: [re.search(r"\d (\w+): ", line)[1] for line in out.splitlines()] == ["many_00000", "many_00001", "many_00002"]
run: blip trace -p $PID --return many_0* --max-events 2 --json
check: [e["name"] for e in json_lines()] == ["many_00000:return", "many_00001:return"]

case: five thousand functions counted
run: blip count -p $PID --function many_0*
check: sum(table().values()) == armed.probes
check: set(table().values()) == {1}

case: five thousand functions, ten sessions
until: done
repeat: 10
run: blip count -p $PID --function many_0*
check: sum(table().values()) == armed.probes

case: a thousand functions in a trace, each under its name
run: blip record -p $PID --function many_00* -o t
reads:
check: len({e.name for e in events()}) == armed.probes

case: all of libc while the target works
until: done
run: blip count -p $PID --function libc.so.6:* --function many_0* --max-probes 30000
check: armed.probes > 6000

case: how long ten thousand functions take, in little memory of blip's own
target: many_10k
sh: $LIB/most_memory.py 90000 blip count -p $PID --latency --function 'many_*' --max-probes 20000 --duration 200ms
expect: within 90000 KiB
go:

case: ten thousand functions and their returns recorded, in little memory of blip's own
target: many_10k
sh: $LIB/most_memory.py 66000 blip record -p $PID --return 'many_*' --max-probes 20000 --duration 200ms -o t
expect: within 66000 KiB
go:
