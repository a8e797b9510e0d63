# SPDX-License-Identifier: MIT
# JSON (docs/json.md). json_lines() refuses a key that comes twice, and a line without version and kind.
as: both

case: names of arguments and captures are those of the event itself, and come twice
target: hostile_names
run: blip trace -p $PID --function names --args --locals --context cpu,comm,reg:rdi,int:name:main --capture 'name = depth, name = time, tid, depth' --string-max 16 --json
check: len(json_lines()) == 3 and all(e["name"] == "names" and e["kind"] == "event" and e["tid"] == PID for e in json_lines())
check: [(e["args"]["name"], e["args"]["time"], e["args"]["tid"], e["args"]["depth"]) for e in json_lines()] == [(i, 2, "a thread", 4) for i in range(3)]
check: [e["args"]["missing"] for e in json_lines()] == [{"time": 5, "name": 6}] * 3
check: [e["captures"] for e in json_lines()] == [{"name": 4, "name_2": 2, "tid": "a thread", "depth": 4}] * 3
check: all(set(e["context"]) == {"cpu", "procname", "rdi", "name"} and "ret" in e["locals"] for e in json_lines())
check: [(e["args"]["cut"], "/args/cut" in e.get("cut", []), e.get("missing", {}).get("/args/cut")) for e in json_lines()] == [("a text that is l", True, None), (None, False, "bad address"), ("a text that is l", True, None)]

case: of returns
target: hostile_names
run: blip trace -p $PID --return names --args --capture 'r = $return, depth2 = depth, depth = entry(depth)' --json
check: [(e["name"], e["ret"], e["depth"], e["tail"]) for e in json_lines()] == [("names:return", 13 + i, 0, 0) for i in range(3)]
check: [(e["args"]["depth"], e["args"]["name"], e["captures"]["depth"], e["captures"]["depth2"], e["captures"]["r"]) for e in json_lines()] == [(4, i, 4, 0, 13 + i) for i in range(3)]
check: all(isinstance(e["latency_ns"], int) and e["latency_ns"] >= 0 for e in json_lines())

case: a stored trace says the same
target: hostile_names
run: blip record -p $PID --context tid,comm,backtrace,reg:rdi --function names --args --capture 'name, name = depth + 1, depth + 1' --string-max 16 -o t
run: blip view t --json
check: len(json_lines()) == 3 and all(e["name"] == "names" and e["pid"] == e["tid"] == PID for e in json_lines())
check: [(e["args"]["name"], e["args"]["tid"], e["captures"]) for e in json_lines()] == [(i, "a thread", {"name": i, "name_2": 5, "depth + 1": 5}) for i in range(3)]
check: [(e["args"]["cut"], "/args/cut" in e.get("cut", []), e.get("missing", {}).get("/args/cut")) for e in json_lines()] == [("a text that is l", True, None), (None, False, "bad address"), ("a text that is l", True, None)]
check: all(e["context"]["procname"] == "hostile_names" and e["backtrace"][0]["function"] == "names" and "rdi" in e["context"] for e in json_lines())
sh: babeltrace2 t | grep -c ' names: ' && babeltrace t | grep -c ' names: '
check: out.split() == ["3", "3"]

case: view of returns and of blip's own events
target: hostile_names
run: blip record -p $PID --return names --args --lifecycle -o t
run: blip view t --json
check: [(e["args"]["name"], e["ret"], e["depth"]) for e in json_lines() if e["name"] == "names:return"] == [(i, 13 + i, 0) for i in range(3)]
check: [e["fields"]["comm"] for e in json_lines() if e["name"] == "process:begin"] == ["hostile_names"]

case: count, latencies, lists and coverage
target: hostile_names
run: blip count -p $PID --function names --json
check: [(e["kind"], e["name"], e["hits"]) for e in json_lines()] == [("count", "names", 3)]
run: blip count -p $PID --function names --latency --json
check: [(e["kind"], e["name"], e["calls"]) for e in json_lines()] == [("latency", "names", 3)]
run: blip list -v $TARGETS/hostile_names --json
check: {e["kind"] for e in json_lines()} == {"function"}
run: blip list $TARGETS/odd --coverage --json -v
check: [e["kind"] for e in json_lines()] == ["refused"] * (len(json_lines()) - 1) + ["coverage"]
