# SPDX-License-Identifier: MIT
# Functions of one name are told apart in every table.
as: both

case: counted, by their parameters; JSON has the address
target: overloads 7
run: blip count -p $PID --function handle --function 'shop::Service::close'
check: counted() == {"shop::Service::handle(double)": 14, "shop::Service::handle(int)": 7,
       "shop::Service::handle(char const*) const": 7, "shop::Service::close": 1}
run: blip count -p $PID --function handle --json
check: sorted((e["name"], e["hits"]) for e in json_lines()) == [("shop::Service::handle(char const*) const", 7),
       ("shop::Service::handle(double)", 14), ("shop::Service::handle(int)", 7)]
check: len({e["address"] for e in json_lines()}) == 3
run: blip list $TARGETS/overloads --json handle
check: len({(e["address"], e["parameters"]) for e in json_lines()}) == 3 and {e["name"] for e in json_lines()} == {"shop::Service::handle"}

case: one of them has just its name
target: overloads 7
run: blip count -p $PID --function 'shop::Service::handle(int)'
check: counted() == {"shop::Service::handle": 7}

case: latencies, lists, every instruction
target: overloads 7
run: blip count -p $PID --latency --function handle
check: {line.split("  ")[0] for line in out.splitlines()[1:]} == {"shop::Service::handle(int)", "shop::Service::handle(double)", "shop::Service::handle(char const*) const"}
run: blip list -p $PID 'shop::*'
check: {line.split("overloads  ")[1].split("  #")[0] for line in out.splitlines()} == {"shop::Service::handle(int)", "shop::Service::handle(double)",
       "shop::Service::handle(char const*) const", "shop::Service::close", "shop::pick<int>", "shop::pick<char>"}
run: blip count -p $PID --every-instruction handle
check: re.search(r"^shop::Service::handle\(double\)\+0x[1-9a-f]\w* +14$$", out, re.M) and "shop::Service::handle+" not in out

case: live, stored, returns and their table
target: overloads 1
run: blip trace -p $PID --function handle --return 'shop::Service::handle' --json
check: [e["name"] for e in json_lines()] == ["shop::Service::handle(%s%s" % (p, r) for p in ("int)", "double)", "double)", "char const*) const") for r in ("", ":return")]
run: blip record -p $PID --function handle --return handle -o t
expect-stderr: shop::Service::handle(double) 2
run: blip view t --function 'Service::handle(int)'
check: len(out.splitlines()) == 2
run: blip view t --function 'shop::Service::handle(int)' --function 'shop::Service::handle(double):return'
check: len(out.splitlines()) == 4
run: blip view t --function handle
check: len(out.splitlines()) == 8

case: statics of one name are told apart by their addresses
target: twins 5
run: blip count -p $PID --function twin
check: len(out.splitlines()) == 3 and len(set(re.findall(r"^twin at (0x[0-9a-f]+) +5$$", out, re.M))) == 2
run: blip count -p $PID --latency --function twin
check: len(set(re.findall(r"^twin at (0x[0-9a-f]+) +5 ", out, re.M))) == 2
run: blip count -p $PID --function twin --json
check: [e["name"] for e in json_lines()] == ["twin", "twin"] and len({e["address"] for e in json_lines()}) == 2

case: names that do not fit a terminal are cut in their middle, in a pipe never
needs: script
target: overloads 7
sh: run() { script -qec "blip count -p $PID --function handle --duration 100ms $$1 2>/dev/null" $$2 >/dev/null; };
  COLUMNS=32 run '' narrow; COLUMNS=32 run --latency times; COLUMNS=32 run --json json; COLUMNS=200 run '' wide; COLUMNS=32 blip count -p $PID --function handle --duration 100ms > pipe;
  script -qec "stty cols 40; blip count -p $PID --function handle --duration 100ms 2>/dev/null" stty > /dev/null
check: "shop::Servic...nst*) const     0" in read_file("narrow") and "handle(int)     0" in read_file("narrow")
check: all(len(re.sub("\x1b\\[[0-9;]*m|\r", "", line)) == 32 for line in read_file("narrow").splitlines() if "HITS" in line or "shop" in line)
check: "shop::Service::handle(char const*) const" in read_file("wide") and "..." not in read_file("wide") + read_file("pipe") + read_file("json")
check: "shop::S...e(int)      0      -" in read_file("times") and "shop::Service::h...r const*) const     0" in read_file("stty")
