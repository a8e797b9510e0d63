// SPDX-License-Identifier: MIT
// Scripts and what they print.
#include "bt/test_bt.h"

namespace blip::bt {
namespace {

// The body of a BEGIN; without the empty lines that bpftrace puts before the maps.
std::string begin(const std::string& body) {
  ScriptRunner runner;
  std::string out = runner.run("BEGIN { " + body + " }");
  if (const size_t at = out.rfind("\n\n"); at != std::string::npos && out.substr(at) == "\n\n")
    out.resize(at);
  if (out.starts_with("\n\n")) out = out.substr(2);
  return out;
}

struct Case {
  const char* body;
  const char* printed;
};

class Prints : public testing::TestWithParam<Case> {};

TEST_P(Prints, as_expected) { EXPECT_EQ(begin(GetParam().body), GetParam().printed) << GetParam().body; }

constexpr Case kNumbers[] = {
    {"print(1 + 2 * 3)", "7\n"},
    {"print((7 / 2, 7 % 2, -7 / 2, 1 << 4, 256 >> 2))", "(3, 1, -3, 16, 64)\n"},
    {"print((6 & 3, 6 | 3, 6 ^ 3, ~0, !5, -(3)))", "(2, 7, 5, -1, false, -3)\n"},
    {"print((1 == 1, 1 != 1, 1 < 2, 2 <= 1, 2 > 1, 1 >= 2))", "(true, false, true, false, true, false)\n"},
    {"print((1 && 0, 1 || 0))", "(false, true)\n"},
    {"print((0x1f, 017, 1_000, 2e3, 5ms, 1s, 3UL))", "(31, 15, 1000, 2000, 5000000, 1000000000, 3)\n"},
    {"print(0xffffffffffffffff)", "18446744073709551615\n"},
    {"print(((uint8)300, (int8)200, (uint16)65537, (int32)4294967295, (bool)7))", "(44, -56, 1, -1, true)\n"},
    {"$a = (uint64)3 - (uint64)5; printf(\"%d %lu\\n\", $a, $a)", "-2 18446744073709551614\n"},
    {"$x = 1; print(5 / ($x - 1))",
     "1\n\n\nWARNING: 1 values could not be read or computed, and were 0, \"\" or 1\n"},
    {"print(1 ? 2 : 3); print(0 ?: 4)", "2\n4\n"},
    {"print(bswap((uint32)0x12345678))", "2018915346\n"},
    {"print(sizeof(uint32)); print(sizeof(1 == 1))", "4\n1\n"},
};
INSTANTIATE_TEST_SUITE_P(numbers, Prints, testing::ValuesIn(kNumbers));

constexpr Case kTexts[] = {
    {"print(\"a\\tb\\x41\\101\\\"\")", "a\tbAA\"\n"},
    {"$s = \"abc\"; print(($s == \"abc\", $s != \"abc\", strlen($s)))", "(true, false, 3)\n"},
    {"print((strncmp(\"abcd\", \"abxx\", 2), strncmp(\"a\", \"b\", 1)))", "(0, 1)\n"},
    {"print((strcontains(\"haystack\", \"sta\"), strstr(\"haystack\", \"sta\"), strstr(\"a\", \"b\")))",
     "(true, 3, -1)\n"},
    {"print(str(\"hello\", 3))", "he\n"},
    {"printf(\"%r|%rx|%rh\\n\", buf(\"hi\\x01\", 3), buf(\"hi\", 2), buf(\"hi\", 2))",
     "hi\\x01|\\x68\\x69|68 69\n"},
    {"print(str_concat(\"a\", \"b\"))", "ab\n"},
    {"print((strerror(1), signal_name(9)))", "(Operation not permitted, Killed)\n"},
    {"print(1 ? \"yes\" : \"no\")", "yes\n"},
};
INSTANTIATE_TEST_SUITE_P(texts, Prints, testing::ValuesIn(kTexts));

constexpr Case kFormats[] = {
    {"printf(\"%d %5d|%-5d|%05d %x %X %#x %o %u %c %%\\n\", 1, 2, 3, 4, 255, 255, 255, 8, 7, 65)",
     "1     2|3    |00004 ff FF 0xff 10 7 A %\n"},
    {"$x = 0x12345678abcdef; printf(\"%hhx %hx %x %jx %lx\\n\", $x, $x, $x, $x, $x)",
     "ef cdef 78abcdef 12345678abcdef 12345678abcdef\n"},
    {"printf(\"%5s|%-5s|%s\\n\", \"ab\", \"ab\", \"ab\")", "   ab|ab   |ab\n"},
    {"printf(\"%d %lld %p\\n\", -1, -1, 255)", "-1 -1 0xff\n"},
    {"printf(\"%s %s %s\\n\", 5, (1, \"a\"), true)", "5 (1, a) true\n"},
    {"printf(\"none\\n\")", "none\n"},
};
INSTANTIATE_TEST_SUITE_P(formats, Prints, testing::ValuesIn(kFormats));

constexpr Case kStatements[] = {
    {"$a = 1; $a += 4; $a -= 1; $a *= 6; $a /= 3; $a %= 5; $a <<= 2; $a |= 1; $a &= 13; $a ^= 2; $a >>= 1; "
     "print($a)",
     "7\n"},
    {"$a = 5; print($a++); print(++$a); print($a--); print(--$a)", "5\n7\n7\n5\n"},
    {"if (1 > 2) { print(1) } else if (2 > 1) { print(2) } else { print(3) }", "2\n"},
    {"$i = 0; while ($i < 5) { $i++; if ($i == 2) { continue } if ($i == 4) { break } print($i) }", "1\n3\n"},
    {"for ($i : 0..3) { print($i) }", "0\n1\n2\n"},
    {"$n = 2; for ($i : 0..$n) { for ($k : 0..2) { printf(\"%d%d \", $i, $k) } } printf(\"\\n\")",
     "00 01 10 11 \n"},
    {"$i = 0; unroll(3) { $i += 2 } print($i)", "6\n"},
    {"let $a; if (0) { $a = 1 } print($a)", "0\n"},
    {"let $a: uint8 = (uint8)200; $a += 100; print($a)", "44\n"},
    {"$a = { let $b = 20; $b + 2 }; print($a)", "22\n"},
    {"$a = if (1) { 5 } else { 6 }; print($a)", "5\n"},
    {"print(1); return; print(2)", "1\n"},
    {"print(1); exit(); print(2)", "1\n"},
    {"$a = 1; { $a = 2; let $b = 3 } print($a)", "2\n"},
    {"_ = 5; print(1)", "1\n"},
    {"$x = 0; $y = $x++ > 5 && $x++ > 0; print(($x, $y))", "(1, false)\n"},
    {"assert(1 == 2, \"no\"); print(3)", "stdin:1:9-29: ERROR: assert failed: no\n"},
};
INSTANTIATE_TEST_SUITE_P(statements, Prints, testing::ValuesIn(kStatements));

constexpr Case kTuples[] = {
    {"$t = (1, (\"a\", 2)); print($t); print($t.1.0); print($t.0)", "(1, (a, 2))\na\n1\n"},
    {"$r = (a = 1, b = \"x\"); print($r); print($r.b)", "{ .a = 1, .b = x }\nx\n"},
    {"$a = (foo = 1, bar = 2); $a = (bar = 3, foo = 4); print($a)", "{ .foo = 4, .bar = 3 }\n"},
    {"print(((1, 2) == (1, 2), (1, 2) == (1, 3)))", "(true, false)\n"},
    {"print(())", "()\n"},
    {"$t = (4, \"b\"); print($t[1]); print($t[0])", "b\n4\n"},
    {"print(sizeof(((int32)1, (int8)2, (int64)3)))", "16\n"},
    {"@a[1] = (5, \"x\"); $v = @a[1]; print($v.1)", "x\n\n\n@a[1]: (5, x)\n"},
};
INSTANTIATE_TEST_SUITE_P(tuples, Prints, testing::ValuesIn(kTuples));

constexpr Case kMaps[] = {
    {"@ = 5; @b = \"hi\"; @c = -11", "@: 5\n@b: hi\n@c: -11\n"},
    {"@a[2] = 10; @a[1] = 30; @a[3] = 20", "@a[2]: 10\n@a[3]: 20\n@a[1]: 30\n"},
    {"@a[\"y\", 1] = \"b\"; @a[\"x\", 2] = \"a\"", "@a[x, 2]: a\n@a[y, 1]: b\n"},
    {"@x[1]++; @x[1]++; @x[2]--; ++@y", "@x[2]: -1\n@x[1]: 2\n@y: 1\n"},
    {"@x += 5; @x -= 2; @x *= 4; print(@x)", "@x: 12\n\n\n@x: 12\n"},
    {"@x[1] = 1; @x[2] = 2; delete(@x[1]); delete(@x, 3); print(has_key(@x, 1)); print(len(@x))",
     "false\n1\n\n\n@x[2]: 2\n"},
    {"@x[1] = 1; clear(@x); @y[1] = 3; zero(@y)", "@y[1]: 0\n"},
    {"@x[1] = 7; print(@x[1]); print(@x[9])", "7\n0\n\n\n@x[1]: 7\n"},
    {"@x[1] = 7; @x[2] = 8; @x[3] = 9; print(@x, 2); print(@x, 1, 3); clear(@x)",
     "@x[2]: 8\n@x[3]: 9\n@x[3]: 3\n"},
    {"@x[1] = 7; let $v; if (find(@x, 1, $v)) { print($v) } if (find(@x, 2, $v)) { print(0) } clear(@x)",
     "7\n"},
    {"@m[10, 11] = 20; for ($kv : @m) { print(($kv.0.0, $kv.0.1, $kv.1)) } clear(@m)", "(10, 11, 20)\n"},
    {"@m[1] = count(); for ($kv : @m) { print($kv) } clear(@m)", "(1, 1)\n"},
    {"@a[true] = false", "@a[true]: false\n"},
    {"@a[@b[@c[@d[@e[@f[1]]]]]] = 5; @b[0] = 0; @c[0] = 0; @d[0] = 0; @e[0] = 0; @f[0] = 0; clear(@b); "
     "clear(@c); clear(@d); "
     "clear(@e); clear(@f)",
     "@a[0]: 5\n"},
    {"@x[1] = 0; if (@x[1]) { print(1) } if (!@x[2]) { print(2) } clear(@x)", "2\n"},
};
INSTANTIATE_TEST_SUITE_P(maps, Prints, testing::ValuesIn(kMaps));

constexpr Case kAggregates[] = {
    {"@ = count(); @ = count(); print(@ > 1)", "true\n\n\n@: 2\n"},
    {"@ = sum(10); @ = sum(-20)", "@: -10\n"},
    {"@a = min(5); @a = min(-3); @b = max(5); @b = max(-3)", "@a: -3\n@b: 5\n"},
    {"@ = avg(-30); @ = avg(-10); print((int64)@)", "-20\n\n\n@: -20\n"},
    {"@ = stats(-10); @ = stats(-5); @ = stats(5)", "@: { .count = 3, .average = -3, .total = -10 }\n"},
    {"@[1] = avg(4); @[2] = avg(2)", "@[2]: 2\n@[1]: 4\n"},
    {"@ = hist(0); @ = hist(1); @ = hist(2); @ = hist(3); @ = hist(1024); @ = hist(-1)",
     "@:\n"
     "(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
     "[0]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
     "[1]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
     "[2, 4)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
     "[4, 8)                 0 |                                                    |\n"
     "[8, 16)                0 |                                                    |\n"
     "[16, 32)               0 |                                                    |\n"
     "[32, 64)               0 |                                                    |\n"
     "[64, 128)              0 |                                                    |\n"
     "[128, 256)             0 |                                                    |\n"
     "[256, 512)             0 |                                                    |\n"
     "[512, 1K)              0 |                                                    |\n"
     "[1K, 2K)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |"},
    {"@[\"k\"] = lhist(3, 0, 10, 2); @[\"k\"] = lhist(11, 0, 10, 2)",
     "@[k]:\n"
     "[2, 4)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
     "[4, 6)                 0 |                                                    |\n"
     "[6, 8)                 0 |                                                    |\n"
     "[8, 10)                0 |                                                    |\n"
     "[10, ...)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|"},
};
INSTANTIATE_TEST_SUITE_P(aggregates, Prints, testing::ValuesIn(kAggregates));

constexpr Case kBuiltins[] = {
    {"print((pid, tid, cpu, uid, gid))", "(7, 8, 1, 0, 0)\n"},
    {"print((comm, probe, nsecs, elapsed, cpid))", "(worker, BEGIN, 1000000000, 0, 4711)\n"},
    {"print(rand >= 0); print(ncpus > 0)", "true\ntrue\n"},
    {"print(ntop(0x0100007f))", "127.0.0.1\n"},
    {"printf(\"%s\\n\", usym(0x1004))", "work\n"},
    {"errorf(\"bad %d\", 1); warnf(\"so %s\", \"so\")",
     "stdin:1:9-28: ERROR: bad 1\nstdin:1:30-50: WARNING: so so\n"},
};
INSTANTIATE_TEST_SUITE_P(builtins, Prints, testing::ValuesIn(kBuiltins));

// Whole scripts, with a target: n is 5 in esi, and req points to a request in rdi.
std::string script(const std::string& source) {
  ScriptRunner runner;
  std::string out = runner.run(source);
  if (out.ends_with("\n\n")) out.resize(out.size() - 2);
  if (out.starts_with("\n\n")) out = out.substr(2);
  return out;
}

TEST(Script, at_a_function) {
  EXPECT_EQ(script("uprobe:./t:f { printf(\"%d %d\\n\", arg1, args.n) }"), "5 5\n")
      << "arg1 is the whole word";
  EXPECT_EQ(script("uprobe:./t:f { print(args.req->id); print(args.req.id) }"), "-5\n-5\n");
  EXPECT_EQ(
      script(
          "uprobe:./t:f { $r = (struct request *)arg0; print(($r->id, $r.headers[2].size, str($r->path))) }"),
      "(-5, 102, /admin)\n");
  EXPECT_EQ(script("uprobe:./t:f { $r = *(struct request *)arg0; print(($r.id, $r.name)) }"),
            "(-5, worker)\n");
  EXPECT_EQ(script("uprobe:./t:f /args.n == 5/ { print(1) } uprobe:./t:f /args.n == 6/ { print(2) }"), "1\n");
  EXPECT_EQ(script("uprobe:./t:f { @[str(args.req->path)] = count() }"), "@[/admin]: 1\n");
  EXPECT_EQ(script("uprobe:./t:f { printf(\"%r\\n\", buf(args.req->path, 4)) }"), "/adm\n");
  EXPECT_EQ(
      script("uprobe:./t:f { print(reg(\"si\") & 0xff); print(*args.numbers); print(args.numbers[1]) }"),
      "5\n10\n-20\n");
  EXPECT_EQ(
      script("uprobe:./t:f { let $x; if (args.n > 3) { $x = args.req->id } else { $x = 0 } print($x) }"),
      "-5\n");
  EXPECT_EQ(script("uprobe:./t:f { printf(\"%s\", ustack) }"), "\n        work+4\n        work+564\n");
  EXPECT_EQ(script("uprobe:./t:f { @[ustack(perf, 1)] = 1 }"), "@[\n\t1004 work+4 (/bin/target)\n]: 1\n");
  EXPECT_EQ(script("uprobe:./t:f { print((func, probe)) }"), "(handle, uprobe:./t:f)\n");
  EXPECT_EQ(script("uprobe:./t:f* { print(probe) }"), "uprobe:./t:handle\n");
  EXPECT_EQ(script("uprobe:./t:f { print(args.req->state); print((int64)args.req->state) }"), "DONE\n7\n");
}

TEST(Script, at_a_return) { EXPECT_EQ(script("uretprobe:./t:f { print((retval, args.n)) }"), "(0, 5)\n"); }

TEST(Script, a_struct_of_the_script) {
  EXPECT_EQ(script("struct R { int id; unsigned f:3; int l:5; char *path; } "
                   "uprobe:./t:f { $r = (struct R *)arg0; printf(\"%d %s\\n\", $r->id, str($r->path)) }"),
            "-5 /admin\n");
  EXPECT_EQ(script("struct S { int x; char c; short s[3]; } BEGIN { print((sizeof(struct S), offsetof(struct "
                   "S, s))) }"),
            "(12, 6)\n");
  EXPECT_EQ(script("enum E { A, B = 5, C }; BEGIN { printf(\"%d %s %d\\n\", B, C, C) }"), "5 C 6\n");
  EXPECT_EQ(script("#define N 5\nBEGIN { print(N + 1) }"), "6\n");
}

TEST(Script, what_a_read_finds_not) {
  EXPECT_EQ(script("uprobe:./t:f { print(*(uint32 *)16); print(str(16)) }"),
            "0\n\n\n\nWARNING: 2 values could not be read or computed, and were 0, \"\" or 1\n");
}

TEST(Script, macros) {
  EXPECT_EQ(script("macro twice(x) { x * 2 } macro set($v, @m) { $v = 7; @m[1] = $v } "
                   "BEGIN { $a = 1; set($a, @n); print(twice($a)); print(@n[1]); clear(@n) }"),
            "14\n7\n");
  EXPECT_EQ(script("macro bad() { errorf(\"no\"); } BEGIN { bad(); }"),
            "stdin:1:15-27: ERROR: no\nstdin:1:39-44: ERROR: expanded from\n"
            "macro bad() { errorf(\"no\"); } BEGIN { bad(); }\n"
            "                                      ~~~~~\n");
  EXPECT_EQ(script("macro cpu(x) { x } BEGIN { print(cpu(\"a\")); print(cpu() == cpu) }"), "a\ntrue\n");
  EXPECT_EQ(script("BEGIN { print((config().max_strlen, probetype, __builtin_config.stack_mode)) }"),
            "(1024, special, bpftrace)\n");
}

TEST(Script, end_and_maps) {
  EXPECT_EQ(script("BEGIN { @[123] = 456 } END { printf(\"%d\\n\", @[123]); clear(@) }"), "456\n");
  EXPECT_EQ(script("config = { print_maps_on_exit = false } BEGIN { @ = 1 }"), "");
  EXPECT_EQ(script("let @a = hash(2); BEGIN { @a[1] = 1; @a[2] = 2; @a[3] = 3 }"),
            "@a[1]: 1\n@a[2]: 2\nWARNING: Map full; can't update element of @a: 1 updates were dropped. It "
            "has room for "
            "2 keys: try max_map_keys, or let @a = hash(4);\n");
}

TEST(Script, parameters) {
  ScriptRunner runner;
  runner.arguments = {"42", "hello"};
  EXPECT_EQ(runner.run("BEGIN { printf(\"%d %s %s %d %d\\n\", $1, str($2), str($2 + 1), $#, $9) }"),
            "42 hello ello 2 0\n\n\n");
}

TEST(Script, json) {
  ScriptRunner runner;
  runner.is_json = true;
  EXPECT_EQ(runner.run("BEGIN { printf(\"a\\n\"); print((1, \"b\")); @c[1, \"x\"] = 2; @d = stats(4); @e = "
                       "hist(5); time(\"x\") }"),
            "{\"type\": \"printf\", \"data\": \"a\\n\"}\n"
            "{\"type\": \"value\", \"data\": [1,\"b\"]}\n"
            "{\"type\": \"time\", \"data\": \"x\"}\n"
            "{\"type\": \"map\", \"data\": {\"@c\": {\"1,x\": 2}}}\n"
            "{\"type\": \"stats\", \"data\": {\"@d\": {\"count\": 1, \"average\": 4, \"total\": 4}}}\n"
            "{\"type\": \"hist\", \"data\": {\"@e\": [{\"min\": 4, \"max\": 7, \"count\": 1}]}}\n");
}

TEST(Script, commands_need_a_permission) {
  ScriptRunner runner;
  EXPECT_THAT(runner.run("BEGIN { system(\"echo hi\") }"), testing::HasSubstr("allow it with --unsafe"));
  runner.is_unsafe = true;
  EXPECT_EQ(runner.run("BEGIN { system(\"echo %d\", 5) }"), "5\n\n\n");
}

}  // namespace
}  // namespace blip::bt
