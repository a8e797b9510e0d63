# SPDX-License-Identifier: MIT
# Hit counts against kernel uprobes: the same deterministic work, once under bpftrace and once under blip.
as: root
needs: root bpftrace
timeout: 90

case: calls of one function in three threads
target: threads 3 5000
helper: bpftrace -q -e 'uprobe:$DIR/threads:work /pid == $PID/ { @hits = count(); } interval:ms:200 { printf("armed\n"); }' -p $PID
wait: helper armed
go:
signal: INT helper
wait: helper @hits
check: int(re.search(r"@hits: (\d+)", helper.out())[1]) == calls
run: blip count -p $PID --function work
check: table()["work"] == calls

case: functions of python3 at work, each of them
program: /usr/bin/python3 $LIB/rounds.py
state: loose
go:
# With -p alone bpftrace counts in every process of that file, and this runner is one on most machines.
helper: bpftrace -q -e 'uprobe:/usr/bin/python3.11:PyList_*,uprobe:/usr/bin/python3.11:PyNumber_*,
  uprobe:/usr/bin/python3.11:PyUnicode_*,uprobe:/usr/bin/python3.11:PyObject_Call* /pid == $PID/ { @[func] = count(); }
  interval:ms:200 { printf("armed\n"); }' -p $PID
wait: helper armed
go:
signal: INT helper
wait: helper @[
wait: ended helper
run: blip count -p $PID --function PyList_* --function PyNumber_* --function PyUnicode_* --function PyObject_Call*
check: armed.probes > 100
check: {f: n for f, n in re.findall(r"@\[(\w+)\]: (\d+)", helper.out()) if f in table()}
  == {f: str(n) for f, n in table().items() if n}

case: every malloc of a command from its start on
sh: bpftrace -c "/usr/bin/ls -l /etc/hostname /usr/bin/env" -e 'uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc /pid == cpid/
  { @hits = count(); }' | sed -n 's/^@hits: //p' > hits.txt
until: alone
run: blip count --function libc.so.6:malloc -- /usr/bin/ls -l /etc/hostname /usr/bin/env
check: table()["malloc"] == int(read_file("hits.txt"))
check: table()["malloc"] > 20
