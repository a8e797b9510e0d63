# SPDX-License-Identifier: MIT
# Programs that handle faults of their own and look where they happened: an instruction that may fault stays in
# place, and the probe of a function that begins with one stands behind it.
timeout: 60

case: a handler that knows its instructions, every function and return probed
target: faults knows
run: blip count -p $PID --function '*' --return '*'
check: {n: counted()[n] for n in ("loads_result", "loads_argument", "stores", "compares", "loads_vector", "in_a_loop")} == {"loads_result": 100, "loads_argument": 100, "stores": 100, "compares": 100, "loads_vector": 100, "in_a_loop": 400}
check: {n: counted()[n] for n in ("scans", "divides", "later_on")} == {"scans": 110, "divides": 110, "later_on": 110}
check: {n: counted()[n + ":return"] for n in ("loads_result", "loads_argument", "stores", "compares", "loads_vector", "scans", "later_on", "divides")} == dict.fromkeys(["loads_result", "loads_argument", "stores", "compares", "loads_vector", "scans", "later_on", "divides"], 100)
expect-not: moved an instruction

case: what such an instruction changes is not shown as it was at the entry
target: faults knows
run: blip record -v -p $PID --context reg:rsi --capture "b = arg1" --function loads_result --function loads_argument --function stores --function compares
check: {e.name for e in events()} == {"loads_result", "compares"} and {(e.b == e.rsi, e.b) for e in events()} == {(True, n) for n in (1, 2, 3, 4, 5)}
expect-stderr: refused loads_argument: it may fault, and the program handles such faults itself
expect-stderr: refused stores: it may fault, and the program handles such faults itself

case: all registers are those of the entry
target: faults knows
run: blip count -v -p $PID --function loads_result --context regs --function scans
expect-stderr: refused loads_result: it may fault, and the program handles such faults itself

case: a handler that comes later, every function and return probed
target: faults knows later
state: maps text fds left
run: blip count -p $PID --function '*' --return '*' --moved-faults refuse
check: counted()["stores"] == 100 and counted()["scans"] == 110

case: a write barrier, every function and return probed
target: faults barrier
run: blip count -p $PID --function '*' --return '*'
check: counted()["stores"] == 100 and counted()["stores:return"] == 100

case: a write barrier, with the store in a pad: each call counts once
target: faults barrier
run: blip record -p $PID --function stores --context reg:rsi --capture "was = *(long *)arg0" --moved-faults accept
expect-stderr: 1 probe has moved an instruction that may fault: where it does, the program's handler sees an address of blip's
check: [(e.rsi, e.was) for e in events("stores")] == [(n, max(n - 1, 0)) for n in range(100)]

case: only what must be moved is, if that is accepted
target: faults barrier
run: blip count -v -p $PID --function '*' --moved-faults accept
check: counted()["stores"] == 100
expect-not: refused stores

case: a single instruction that may fault
target: faults barrier
run: blip count -p $PID --probe stores --moved-faults accept
expect-stderr: 1 probe has moved an instruction that may fault

case: what may fault, in a list
target: faults knows
sh: blip list -p $PID stores --json; blip list $TARGETS/faults stores --moved-faults refuse --json
check: [o["step"] for o in map(__import__("json").loads, out.splitlines())] == ["springboard", "springboard"]

case: HotSpot turns faults into exceptions, every function of it probed
needs: java javac
prepare: javac -d . $TARGETS/../../tests/targets/Faults.java
program: java -Xmx64m -cp $DIR Faults
timeout: 120
state: text left
run: blip count -p $PID --function 'libjvm.so:*' --max-probes 200000
check: counted()["JVM_handle_linux_signal"] > 0
also: target exits 0
