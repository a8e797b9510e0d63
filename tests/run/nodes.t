# SPDX-License-Identifier: MIT
# Containers whose elements lie in nodes, and values with texts and containers in them: of libstdc++ by g++ and clang, of libc++.
target: node_types
each: node_types node_types_o0 node_types_clang node_types_clang_o0 node_types_libcxx node_types_libcxx_o0

case: maps
needs: clang-14 /usr/lib/llvm-14/include/c++/v1/map
target: $EACH
run: blip trace -p $PID --function maps --args --max-events 1
expect-match: maps: \{ m = \[ \{ first = 1, second = 10 \}, \{ first = 2, second = 20 \}, \{ first = 3, second = 30 \} \], words = \[ \{ first = "one", second = 1 \}, \{ first = "two", second = 2 \}, \{ first = "x{40}", second = 40 \} \], multi = \[ \{ first = 1, second = \{ x = 1, y = 2 \} \}, \{ first = 1, second = \{ x = 3, y = 4 \} \} \], none = \[ \] \}

case: sets, of which not all is shown
needs: clang-14 /usr/lib/llvm-14/include/c++/v1/map
target: $EACH
run: blip trace -p $PID --function sets --args --elements 4 --json --max-events 1
check: [e["args"] for e in json_lines()] == [{"s": [4, 5, 6], "texts": ["a", "b", "b"], "large": [0, 1, 2, 3]}]
check: [(e["cut"], e["sizes"]) for e in json_lines()] == [(["/args/large"], {"/args/large": 1000})]
run: blip trace -p $PID --function sets --capture large --elements 3 --hex --max-events 1
expect-match: sets: \{ large = \[ 0x0, 0x1, 0x2, \.\.\. \] \(1000 in all\) \}

case: hash tables
needs: clang-14 /usr/lib/llvm-14/include/c++/v1/map
target: $EACH
run: blip trace -p $PID --function hashed --args --max-events 1
expect-match: hashed: \{ m = \[ \{ first = "only", second = \{ x = 7, y = 8 \} \} \], s = \[ 9 \], multi = \[ \{ first = 1, second = "(uno|ein)" \}, \{ first = 1, second = "(uno|ein)" \} \], none = \[ \] \}

case: lists, and the size of containers
needs: clang-14 /usr/lib/llvm-14/include/c++/v1/map
target: $EACH
run: blip trace -p $PID --function others --capture 'l, l.size(), l.empty()' --max-events 1
expect-match: others: \{ l = \[ 1, 2, 3 \], l\.size\(\) = 3, l\.empty\(\) = 0 \}
run: blip count -p $PID --function sets --filter 'large.size() == 1000 && s.size() < 4'
expect: sets 1

case: a variant
needs: clang-14 /usr/lib/llvm-14/include/c++/v1/map
target: $EACH
run: blip trace -p $PID --function choices --capture 'v' --json
check: [list(e["captures"]["v"].values())[0] for e in json_lines()][0] == "int"
check: [list(e["captures"]["v"].values())[1:] for e in json_lines()] == [[[5]], ["text"], [[{"x": 1, "y": 2}]]]

case: texts in structures, and in arrays of them
needs: clang-14 /usr/lib/llvm-14/include/c++/v1/map
target: $EACH
run: blip trace -p $PID --function entries --capture '*e, all[0..2], names[0..3]' --max-events 1
expect-match: \*e = \{ name = "first", length = 5, note = NULL, list = \[ "one", NULL, "two" \] \}, all\[0\.\.2\] = \[ \{ name = "first", length = 5, note = NULL, list = \[ "one", NULL, "two" \] \}, \{ name = "second", length = 6, note = <bad address>, list = \[ "two", "one", <bad address> \] \} \], names\[0\.\.3\] = \[ "argv0", "--flag", NULL \] \}
run: blip trace -p $PID --function entries --capture '*e, all[0..2], names[0..3]' --max-events 1 --json
check: [e["captures"]["all[0..2]"][1] for e in json_lines()] == [{"name": "second", "length": 6, "note": None, "list": ["two", "one", None]}]
check: [e["missing"] for e in json_lines()] == [{"/captures/all[0..2]/1/note": "bad address", "/captures/all[0..2]/1/list/2": "bad address"}]

case: containers of random contents, in their own order
needs: clang-14 /usr/lib/llvm-14/include/c++/v1/map
target: $EACH
run: blip trace -p $PID --function in_order --capture 'm, s, h' --elements 100 --json
check: [",".join("%d:%d" % (p["first"], p["second"]) for p in e["captures"]["m"]) + ("," if e["captures"]["m"] else "") for e in json_lines()] == [dict(l.split("=", 1) for l in target.out().splitlines() if "=" in l)["map%d" % i] for i in range(20)]
check: ["".join(t + "," for t in e["captures"]["s"]) for e in json_lines()] == [dict(l.split("=", 1) for l in target.out().splitlines() if "=" in l)["set%d" % i] for i in range(20)]
check: ["".join("%d," % n for n in e["captures"]["h"]) for e in json_lines()] == [dict(l.split("=", 1) for l in target.out().splitlines() if "=" in l)["hash%d" % i] for i in range(20)]

case: a stored trace shows the same, and other readers can read it
needs: clang-14 /usr/lib/llvm-14/include/c++/v1/map
target: $EACH
run: blip record -p $PID --function maps --function entries --args -o t
sh: blip view t
expect-match: words = \[ \{ first = "one", second = 1 \}, \{ first = "two", second = 2 \}, \{ first = "x{40}", second = 40 \} \], multi
sh: babeltrace2 t
expect-match: words = \{ state = \( "whole" : container = 0 \), size = 3, _elements_length = 3, elements = \[ \[0\] = \{ first = \{ state = \( "whole" : container = 0 \), text = "one" \}, second = 1 \}
sh: babeltrace t 2>&1
expect-match: size = 3, _elements_length = 3, elements = \[ \[0\] = \{ first = \{ state = \( "?whole"? : container = 0 \), text = "one" \}, second = 1 \}

case: in base 16
run: blip record -p $PID --function others --capture 'some, a, l' --hex -o t
sh: babeltrace2 t
expect-match: some = \[ \[0\] = 0xA, \[1\] = 0x14, \[2\] = 0x1E \]
sh: blip view t
expect-match: some = \[ 0xa, 0x14, 0x1e \], a = \[ 0x1, 0xfffe, 0x3, 0xfffc \], l = \[ 0x1, 0x2, 0x3 \]
sh: blip view --json t
expect-match: "some":\[10,20,30\],"a":\[1,-2,3,-4\],"l":\[1,2,3\]
run: blip record -p $PID --function others --capture 'some, a' -o u
sh: blip view --hex u
expect-match: some = \[ 0xa, 0x14, 0x1e \], a = \[ 0x1, 0xfffe, 0x3, 0xfffc \]

case: how deep
run: blip trace -p $PID --function maps --capture 'multi' --depth 1 --max-events 1
expect-match: multi = \[ \{ first = 1, second = \{\.\.\.\} \}, \{ first = 1, second = \{\.\.\.\} \} \]

case: containers that were overwritten end
target: $EACH bad
each: node_types node_types_o0
run: blip trace -p $PID --function overwritten --args
expect-match: overwritten: \{ m = \[ \{ first = 0, second = 0 \}, \.\.\. \] \(7 in all\), s = \[ 6, 6, 6, 6, 6, 6, 6 \], l = \[ 0, <bad address> \] \(7 in all\) \}
expect-match: overwritten: \{ m = \[ \{ first = 0, second = 0 \}, <bad address> \] \(7 in all\),
expect-match: overwritten: \{ m = \[ (\{ first = \d, second = \d \}(, )?){7} \], s = \[ (\d(, )?){7} \], l = \[ 0, 1, 2, 3, 4, 5, 6 \] \}
