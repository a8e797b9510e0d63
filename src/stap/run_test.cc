// SPDX-License-Identifier: MIT
// Scripts and what they print: at least one for each operator, statement, function of the tapset and error at run time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "script/blocks/verify.h"
#include "stap/script.h"

namespace blip::stap {

namespace {

class TestWorld : public script::World {
 public:
  std::vector<script::CodeName> names_of(uint64_t, uint64_t address) override {
    if (address != 0x1010) return {};
    return {{.function = "work", .offset = 0x10, .module = "/bin/a", .file = "a.c", .line = 5}};
  }
  std::vector<uint64_t> stack(uint64_t) override { return {0x1010, 0x2000}; }
  std::string thread_name(uint64_t, uint64_t) override { return "worker"; }
  std::vector<std::string> command_line(uint64_t) override { return {"a", "-b", "c d"}; }
  std::string environment(uint64_t, const std::string& name) override {
    return name == "HOME" ? "/root" : "";
  }
  script::FiredProbe probe(uint64_t number) override { return {.wanted = static_cast<size_t>(number)}; }
  uint64_t realtime_ns(uint64_t clock) override { return clock; }
  uint64_t target_pid() override { return 7; }
};

// What is printed, and what is said of errors; "! " is before lines of the latter.
class TestWriter : public script::Writer {
 public:
  std::string text;
  void write(std::string_view written) override { text += written; }
  void warn(std::string_view line) override { text += "! " + std::string(line) + "\n"; }
};

// Runs begin, timers and the like once each in their order, then end, or error after a failure.
std::string run_script(script::ScriptText source) {
  source.name = "a.stp";
  auto parsed = parse_script(source).script;
  if (!parsed) return parsed.error().message();
  script::Script& script = **parsed;
  script::Program program;
  std::vector<uint32_t> handlers;
  for (size_t i = 0; i < script.probes().size(); ++i) {
    auto lowered = script.lower(i, nullptr, program);
    if (!lowered) return lowered.error().message();
    handlers.push_back(static_cast<uint32_t>(program.functions.size()));
    program.functions.push_back(std::move(lowered->function));
  }
  const Status valid = script::verify(program);
  EXPECT_TRUE(valid) << valid.error().message() << "\n" << source.text;
  if (!valid) return valid.error().message();
  std::vector<state::Map> maps;
  for (const state::MapType& type : program.maps) maps.emplace_back(type);
  TestWorld world;
  TestWriter writer;
  const auto output = script.output({world, writer, program, maps});
  script::Interpreter interpreter(program, maps, *output, script.limits(), &world);
  bool has_failed = false;
  for (const bool at_end : {false, true})
    for (size_t i = 0; i < handlers.size(); ++i) {
      using Kind = script::WantedProbe::Kind;
      const Kind kind = script.probes()[i].kind;
      const bool is_last = kind == Kind::kEnd || kind == Kind::kError;
      const bool is_left_out = kind == Kind::kNever || (is_last && (kind == Kind::kError) != has_failed) ||
                               (!is_last && has_failed);
      if (is_last != at_end || is_left_out) continue;
      const script::Outcome outcome =
          interpreter.run(handlers[i], {.clock = 5'000'000'000, .probe = i, .pid = 10, .tid = 11});
      if (output->told(i, outcome, 0) == script::ScriptOutput::Next::kEnd) has_failed = true;
    }
  output->end();
  if (const int code = output->exit_code(std::nullopt); code != 0)
    writer.text += "exit " + std::to_string(code) + "\n";
  return writer.text;
}

std::string run_script(const std::string& text) { return run_script({.name = {}, .text = text}); }

struct Row {
  const char* text;
  const char* expected;
};

// Of a begin handler with these statements.
void check(std::initializer_list<Row> rows) {
  for (const Row& row : rows)
    EXPECT_EQ(run_script(std::string("global a, b, s, h probe begin { ") + row.text + " }"), row.expected)
        << row.text;
}

// Of println() of a value.
void check_values(std::initializer_list<Row> rows) {
  for (const Row& row : rows)
    EXPECT_EQ(run_script(std::string("probe begin { println(") + row.text + ") }"),
              std::string(row.expected) + "\n")
        << row.text;
}

TEST(StapRun, operators) {
  check_values({
      {"1 + 2 * 3 - 4", "3"},
      {"-7 / 2, \" \", -7 % 2", "-3 -1"},
      {"6 & 3, 6 | 3, 6 ^ 3, ~6", "275-7"},
      {"1 << 4, \" \", -16 >> 2, \" \", -1 >>> 60", "16 -4 15"},
      {"1 < 2, 2 <= 2, 3 > 4, 4 >= 5, 5 == 5, 6 != 6", "110010"},
      {"\"a\" < \"b\", \"a\" == \"a\", \"a\" != \"b\", \"b\" <= \"a\", \"b\" > \"a\", \"a\" >= \"b\"",
       "111010"},
      {"-1 < 0, 18446744073709551615 < 0", "11"},
      {"!0, !5, - -3, +4", "1034"},
      {"1 && 0, 1 && 2, 0 || 0, 0 || 3", "0101"},
      {"1 ? 2 : 3, 0 ? 2 : 3, 0 ? 1 : 0 ? 2 : 3", "233"},
      {"\"a\" . \"b\" . \"c\"", "abc"},
      {"\"abc\" =~ \"^a.c$\", \"abc\" !~ \"^a.c$\", \"xyz\" =~ \"b+|z\"", "101"},
      {"0x1f + 010", "39"},
      {"9223372036854775807 + 1", "-9223372036854775808"},
      {"-9223372036854775808 / -1", "-9223372036854775808"},
  });
}

TEST(StapRun, statements) {
  check({
      {"x = 3; x += 2; x -= 1; x *= 6; x /= 4; x %= 4; println(x)", "2\n"},
      {"x = 6; x &= 3; x |= 8; x ^= 1; x <<= 2; x >>= 1; println(x)", "22\n"},
      {"t = \"a\"; t .= \"b\"; println(t .= \"c\")", "abc\n"},
      {"x = 5; println(x++, x--, ++x, --x)", "5665\n"},
      {"x = y = 4; println(x, y)", "44\n"},
      {"if (1) println(\"a\") else println(\"b\"); if (0) println(\"c\") else println(\"d\")", "a\nd\n"},
      {"x = 5; if (x > 3) if (x > 4) println(\"a\")", "a\n"},
      {"for (i = 0; i < 5; i++) { if (i == 1) continue; if (i == 3) break; println(i) }", "0\n2\n"},
      {"while (i < 3) i++; println(i)", "3\n"},
      {"for (i = 0; i < 2; i++) for (j = 0; j < 2; j++) print(i, j, \" \")", "00 01 10 11 "},
      {"println(\"a\"); next; println(\"b\")", "a\n"},
      {"for (;;) if (i++ > 3) { println(i); next }", "5\n"},
      {"; { ; } println(1)", "1\n"},
      {"x = 1; while (x < 100) x += x; t = x ? \"a\" : \"b\"; println(x, t)", "128a\n"},
      {"println((x = 3) + x, x)", "63\n"},
      {"1; \"a\"; println(1)", "1\n"},
  });
}

TEST(StapRun, globals_and_arrays) {
  check({
      {"a = 3; a += 4; a++; println(a, a++, ++a, a--)", "881010\n"},
      {"a[1] = \"x\"; a[2] .= \"y\"; println(a[1], a[2], a[3], 1 in a, 3 in a, [2] in a)", "xy101\n"},
      {"a[1, \"x\"] += 5; a[1, \"x\"]++; println(a[1, \"x\"], [1, \"x\"] in a, [*, \"x\"] in a, [2, *] in a)",
       "6110\n"},
      {"a[1] = 5; delete a[1]; println(1 in a, a[1]); a[2] = 3; delete a; println(2 in a)", "00\n0\n"},
      {"a[1, 1] = 1; a[1, 2] = 2; a[2, 1] = 3; delete a[1, *]; println([1, 1] in a, [1, 2] in a, [2, 1] in "
       "a)",
       "001\n"},
      {"a[\"c\"] = 1; a[\"a\"] = 3; a[\"b\"] = 2; foreach (k in a) print(k, a[k], \" \")", "c1 a3 b2 "},
      {"a[\"c\"] = 1; a[\"a\"] = 3; a[\"b\"] = 2; foreach (k+ in a) print(k); foreach (k- in a) print(k)",
       "abccba"},
      {"a[\"c\"] = 1; a[\"a\"] = 3; a[\"b\"] = 2; foreach (v = k in a-) print(k, v); foreach (k in a+ limit "
       "2) print(k)",
       "a3b2c1cb"},
      {"a[1, \"x\"] = 1; a[2, \"y\"] = 2; a[1, \"z\"] = 3; foreach ([i, t-] in a) print(i, t); foreach (v = "
       "[i, t] in a[1, *] limit 1) print(t, v)",
       "1z2y1xx1"},
      {"for (i = 0; i < 5; i++) a[i] = i * i; foreach (k in a) { if (k == 1) continue; if (k == 3) break; "
       "print(a[k], \" \") }",
       "0 4 "},
      {"a[1] = 1; foreach (k in a limit 0) println(k); println(\"none\")", "none\n"},
      {"foreach (k in a) println(k + 1); a[1] = 1", ""},
  });
  EXPECT_EQ(
      run_script("global a%[2] probe begin { a[1] = 1; a[2] = 2; a[3] = 3; foreach (k in a) print(k) }"),
      "23");
  EXPECT_EQ(run_script("global a[2] probe begin { a[1] = 1; a[2] = 2; a[3] = 3 }"),
            "! ERROR: Array overflow, check MAXMAPENTRIES near a.stp:1:13\n! WARNING: Number of errors: 1, "
            "skipped probes: 0\nexit 1\n");
  EXPECT_EQ(run_script("global a = 5, b = \"x\" probe begin { println(a, b) }"), "5x\n");
  EXPECT_EQ(run_script({.name = {},
                        .text = "global a = 5, b probe begin { println(a, b) }",
                        .globals = {{"a", "7"}, {"b", "y"}}}),
            "7y\n");
}

TEST(StapRun, statistics) {
  check({
      {"s <<< 3; s <<< 5; s <<< -2; println(@count(s), \" \", @sum(s), \" \", @min(s), \" \", @max(s), \" "
       "\", @avg(s))",
       "3 6 -2 5 2\n"},
      {"s[1] <<< 3; s[1] <<< 5; s[2] <<< 4; foreach (k in s @sum-) print(k, @sum(s[k]), \" \"); foreach (k "
       "in s+) print(k)",
       "18 24 21"},
      {"println(@count(s), @sum(s)); s <<< 1", "00\n"},
      {"s <<< 4; delete s; println(@count(s))", "0\n"},
      {"h <<< 3; h <<< 3; h <<< 100; println(@hist_log(h)[66], @hist_log(h)[0])", "20\n"},
      {"h <<< 2; h <<< 12; h <<< 25; print(@hist_linear(h, 0, 20, 10))",
       "value |-------------------------------------------------- count\n"
       "    0 |@                                                  1\n"
       "   10 |@                                                  1\n"
       "   20 |@                                                  1\n\n"},
      {"for (i = 0; i < 60; i++) h <<< 0; h <<< 5000; print(@hist_log(h))",
       "value |-------------------------------------------------- count\n"
       "    0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@                     60\n"
       "    1 |                                                    0\n"
       "    2 |                                                    0\n"
       "      ~\n"
       " 1024 |                                                    0\n"
       " 2048 |                                                    0\n"
       " 4096 |                                                    1\n"
       " 8192 |                                                    0\n"
       "16384 |                                                    0\n\n"},
  });
}

TEST(StapRun, functions) {
  constexpr Row kRows[] = {
      {"function f(n) { return n <= 1 ? 1 : n * f(n - 1) } probe begin { println(f(10)) }", "3628800\n"},
      {"function f() { println(\"f\") } probe begin { f(); f() }", "f\nf\n"},
      {"function f:string(n) { if (n) return \"x\" } probe begin { println(f(1), f(0), \"|\") }", "x|\n"},
      {"function f(a) { a = 5; return a } probe begin { x = 3; println(f(x), x) }", "53\n"},
      {"function even(n) { return n == 0 ? 1 : odd(n - 1) } function odd(n) { return n == 0 ? 0 : even(n - "
       "1) } "
       "probe begin { println(even(10), odd(10)) }",
       "10\n"},
      {"function f(a) { if (a > 1) next; return 1 } function f(a) : 2 { return a * 10 } probe begin { "
       "println(f(1), f(2)) }",
       "120\n"},
      {"function f() { return 1 } function f(a) { return a } probe begin { println(f(), f(2)) }", "12\n"},
      {"function f:long(n) { return f(n + 1) } probe begin { f(0) }",
       "! ERROR: MAXNESTING exceeded near a.stp:1:40\n! WARNING: Number of errors: 1, skipped probes: "
       "0\nexit 1\n"},
      {"probe a = begin { x = 1 }, { println(x) } probe a { x++ }", "2\n"},
      {"global x = 1 probe begin if (x > 1) { println(1) } probe begin if (x == 1) { println(2) }", "2\n"},
      {"probe end { println(\"end\") } probe begin(2) { println(2) } probe begin(-1) { println(-1) }",
       "-1\n2\nend\n"},
      {"probe never { println(1) } probe begin { println(pp(), \" \", pn(), \" \", probe_type()) }",
       "begin begin begin\n"},
  };
  for (const Row& row : kRows) EXPECT_EQ(run_script(row.text), row.expected) << row.text;
}

TEST(StapRun, errors) {
  constexpr const char* kEnd = "! WARNING: Number of errors: 1, skipped probes: 0\nexit 1\n";
  check({
      {"try { error(\"bad\"); println(1) } catch (m) { println(\"caught \", m) }", "caught bad\n"},
      {"try { x = 1 / 0 } catch (m) { println(m) } try { y = 0; x = 1 % y } catch (m) { println(m) }",
       "division by 0\ndivision by 0\n"},
      {"try { println(@avg(s)); s <<< 1 } catch (m) { println(m) }", "empty aggregate\n"},
      {"try { try { error(\"a\") } catch (m) { error(m . \"b\") } } catch (n) { println(n) }", "ab\n"},
      {"try { println(1) } catch { println(2) }", "1\n"},
      {"for (i = 0; i < 3; i++) try { if (i == 1) error(\"x\"); print(i) } catch { continue }", "02"},
      {"assert(1); try { assert(0) } catch (m) { println(m) } try { assert(0, \"why\") } catch (m) { "
       "println(m) }",
       "assertion failed\nwhy\n"},
      {"warn(\"careful\")", "! WARNING: careful\n"},
  });
  EXPECT_EQ(run_script("probe begin { error(\"bad\") } probe end { println(1) } probe error { println(2) }"),
            std::string("! ERROR: bad near a.stp:1:1\n2\n") + kEnd);
  EXPECT_EQ(run_script("probe begin { while (1) x++ }"),
            std::string("! ERROR: MAXACTION exceeded near a.stp:1:1\n") + kEnd);
  EXPECT_EQ(run_script({.name = {},
                        .text = "probe begin { error(\"a\") } probe begin { error(\"b\") }",
                        .defines = {{"MAXERRORS", "5"}}}),
            "! ERROR: a near a.stp:1:1\n! ERROR: b near a.stp:1:28\n! WARNING: Number of errors: 2, skipped "
            "probes: 0\nexit 1\n");
  EXPECT_THAT(run_script({.name = {}, .text = "probe begin { }", .defines = {{"MAXERRORS", "x"}}}),
              testing::HasSubstr("a number from 0 to"));
}

TEST(StapRun, prints) {
  check({
      {"print(1, \"a\"); println(); println(2, \"b\"); printd(\",\", 1, \"x\", 3); printdln(\"%\", 1, 2)",
       "1a\n2b\n1,x,31%2\n"},
      {"printf(\"%d|%5d|%-5d|%05d|%+d|% d|%i\\n\", 1, 2, 3, 4, 5, 6, -7)", "1|    2|3    |00004|+5| 6|-7\n"},
      {"printf(\"%u|%x|%X|%#x|%#X|%o|%#o|%p\\n\", 1, 255, 255, 255, 255, 8, 8, 4096)",
       "1|ff|FF|0xff|0XFF|10|010|0x1000\n"},
      {"printf(\"%s|%5s|%-5s|%.2s|%*s|%.*s|%%\\n\", \"a\", \"b\", \"c\", \"def\", 4, \"g\", 1, \"hi\")",
       "a|    b|c    |de|   g|h|%\n"},
      {"printf(\"%c%c%3c|\\n\", 65, 66, 67)", "AB  C|\n"},
      {"printf(\"%.3d|%5.3d|%ld|%lu|%-*d|\\n\", 5, 5, 6, 7, 4, 8)", "005|  005|6|7|8   |\n"},
      {"printf(\"%1b%2b\", 65, 0x4342)", "ABC"},
      {"printf(\"%#s\\n\", \"a\\n\\\"b\\001\")", "a\\n\\\"b\\001\n"},
      {"print_char(72); log(\"log\"); t = sprintf(\"%d-%s\", 1, \"x\"); println(t, sprint(1, \"a\"), "
       "sprintln(2), sprintd(\".\", 1, 2))",
       "Hlog\n1-x1a2\n1.2\n"},
  });
}

TEST(StapRun, globals_that_are_only_written_are_shown_at_the_end) {
  EXPECT_EQ(
      run_script("global a, t, m, s, e probe begin { a = 5; t = \"x\\n\"; m[1, \"a\"] = 3; m[2, \"b\"] = 9; "
                 "s <<< 4; s <<< 8; if (0) e <<< 1 }"),
      "a=5\nt=\"x\\n\"\nm[2,\"b\"]=9\nm[1,\"a\"]=3\ns @count=2 @min=4 @max=8 @sum=12 @avg=6\ne @count=0x0\n");
  EXPECT_EQ(run_script("global a, b probe begin { a++; b = 1; b = a }"), "b=1\n");
}

TEST(StapRun, tapset) {
  check_values({
      {"pid(), \" \", tid(), \" \", execname(), \" \", target()", "10 11 worker 7"},
      {"strlen(\"abc\"), substr(\"hello\", 1, 3), isinstr(\"abc\", \"bc\"), strpos(\"abc\", \"c\"), "
       "stringat(\"abc\", 1)",
       "3ell1298"},
      {"strtol(\"0x1f\", 16), \" \", strtol(\"12x\", 10), str_replace(\"a.b.c\", \".\", \"--\")",
       "31 12a--b--c"},
      {"tokenize(\" a b,c \", \" ,\"), tokenize(\" ,\"), tokenize(\" ,\"), tokenize(\" ,\"), \"|\"", "abc|"},
      {"text_str(\"a\\n\"), string_quoted(\"a\"), text_strn(\"abcdefghij\", 8, 1), isdigit(\"1\"), "
       "isdigit(\"a\")",
       "a\\n\"a\"\"abc\"...10"},
      {"errno_str(2), errno_str(-13), return_str(1, -2), return_str(1, 5)", "ENOENTEACCES-2 (ENOENT)5"},
      {"gettimeofday_s(), gettimeofday_ms(), gettimeofday_us(), gettimeofday_ns()", "5500050000005000000000"},
      {"ctime(0)", "Thu Jan  1 00:00:00 1970"},
      {"cmdline_str(), \"|\", cmdline_arg(1), \"|\", cmdline_args(1, -1, \",\"), \"|\", env_var(\"HOME\")",
       "a -b c d|-b|-b,c d|/root"},
      {"usymname(0x1010), \" \", usymdata(0x1010), \" \", usymname(0x2000), \" \", usymfileline(0x1010), \" "
       "\", umodname(0x1010)",
       "work work+0x10 [/bin/a] 0x2000 a.c:5 /bin/a"},
      {"htons(0x1234), \" \", ntohl(1), \" \", big_endian8(1), \" \", little_endian4(5)",
       "13330 16777216 72057594037927936 5"},
      {"randint(1), @choose_defined($x, 3), @defined($x)", "030"},
      {"\"abc\" =~ \"(b)(c)\" ? matched(0) . matched(1) . matched(2) : \"\"", "bcbc"},
      {"is_return(), user_mode()", "01"},
  });
  check({
      {"thread_indent(1); println(thread_indent(1)); println(thread_indent(-1))",
       "     0 worker(11): \n     0 worker(11): \n"},
      {"start_stopwatch(\"a\"); stop_stopwatch(\"a\"); println(read_stopwatch_ns(\"a\"))", "0\n"},
      {"\"xyz\" =~ \"y\"; println(ngroups(), matched(0), matched(1), \"|\")", "1y|\n"},
  });
}

}  // namespace

}  // namespace blip::stap
