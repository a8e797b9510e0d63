// SPDX-License-Identifier: MIT
#include "script/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "script/ir/interpret.h"
#include "script/test_compile.h"
#include "script/test_scope.h"

namespace blip::script {
namespace {

// The value as a number, by its type; none: a fault.
std::optional<int64_t> value_of(const std::string& text, TestProgram& program, const HitScopes& site) {
  const auto captured = compile_capture(text, site, {});
  EXPECT_TRUE(captured) << text << ": " << (captured ? "" : captured.error().message());
  if (!captured || captured->program.outputs.size() != 1) return INT64_MIN;
  program.machine.entries.clear();
  for (const uint32_t node : captured->entry_nodes)
    program.machine.entries.push_back(interpret(captured->entry, node, program.machine));
  const auto outputs = run(captured->program, program.machine);
  if (!outputs || outputs->front().is_fault) return std::nullopt;
  uint64_t raw = 0;
  const auto& bytes = outputs->front().bytes;
  for (size_t i = 0; i < bytes.size() && i < 8; ++i) raw |= uint64_t{bytes[i]} << 8 * i;
  const auto width = static_cast<uint8_t>(bytes.size());
  return static_cast<int64_t>(
      *compute({.op = Op::kExtend, .width = width, .is_signed = captured->fields[0].is_signed}, raw, 0));
}

struct Case {
  const char* text;
  int64_t value;
};

void check_all(std::initializer_list<Case> cases, bool is_return = false) {
  TestProgram program;
  program.machine.returned = 0xffffffff;
  program.machine.took = 1000;
  program.machine.calls = 2;
  const HitScopes site{
      .scope = &program.scope, .is_return = is_return, .entry = is_return ? &program.scope : nullptr};
  for (const Case& c : cases) EXPECT_EQ(value_of(c.text, program, site), c.value) << c.text;
}

TEST(Checker, numbers_as_c_computes_them) {
  check_all({{"1 + 2 * 3", 7},
             {"-7 / 2", -3},
             {"-7 % 3", -1},
             {"7u / 2", 3},
             {"2147483647 + 1", INT32_MIN},
             {"2147483647l + 1", 2147483648},
             {"0xffffffff + 1", 0},
             {"-1 < 0u", 0},
             {"-1 < 0", 1},
             {"-1l < 0u", 1},
             {"1 << 31 >> 31", -1},
             {"1u << 31 >> 31", 1},
             {"~0", -1},
             {"!5 + !0", 1},
             {"5 & 6 | 8 ^ 1", 13},
             {"'a' + 1", 98},
             {"1 ? 10 : 20", 10},
             {"0 ? 10 : 20", 20},
             {"(unsigned char)300", 44},
             {"(signed char)200", -56},
             {"(short)0x18000", -32768},
             {"(bool)256", 1},
             {"(int)0xffffffffff", -1},
             {"sizeof(int) + sizeof(long) + sizeof(struct request *)", 20},
             {"sizeof(copy.name)", 16},
             {"sizeof(request)", static_cast<int64_t>(sizeof(TestProgram::Request))},
             {"1.5 < 2", 1},
             {"-1.5 < 1.25", 1},
             {"2.5 != 2.5", 0},
             {"true + false", 1}});
}

TEST(Checker, variables_members_and_pointers) {
  check_all({{"n", 5},
             {"n - 6", -1},
             {"req->id", -5},
             {"req.id", -5},
             {"(*req).id", -5},
             {"copy.id + n", 0},
             {"req->flags", 5},
             {"req->level", -2},
             {"req->rest", 0xabcdef},
             {"req->next->next->id", -5},
             {"req->headers[2].size", 102},
             {"(req->headers + 3)->size", 103},
             {"(&req->headers[3])->size - req->headers->size", 3},
             {"&req->headers[3] - req->headers", 3},
             {"req->as_int", 0x40200000},
             {"req->as_float == 2.5", 1},
             {"req->as_float > 2.75", 0},
             {"req->ratio < 0.5 && req->ratio >= 0.25", 1},
             {"!req->ratio", 0},
             {"req->state", 7},
             {"req->state == DONE", 1},
             {"DONE == req->state", 1},
             {"req->state == state::RUNNING", 0},
             {"req->state != IDLE", 1},
             {"*numbers", 10},
             {"numbers[1]", -20},
             {"*(numbers + 4)", 50},
             {"array[2] + *array", 40},
             {"&array[4] - array", 4},
             {"array == numbers", 1},
             {"*(int *)req->data", 10},
             {"((struct request *)req->next)->id", -5},
             {"((request *)$rdi)->id", -5},
             {"(number)small", 42},
             {"self->id", -5},
             {"(long)self == (long)req", 1},
             {"global", 42},
             {"server.c::global + libx::n", 47},
             {"small", 42},
             {"small - 43", -1},
             {"pair.x", 0x55667788},
             {"pair.y", 0x3344},
             {"pair.p->id", -5},
             {"req == NULL", 0},
             {"!req", 0},
             {"req && req->id == -5", 1},
             {"req->name[0]", 'w'},
             {"n > 3 ? numbers[1] : 0", -20}});
}

TEST(Checker, registers_and_arguments_without_names) {
  check_all({{"$rax", 0x1122334455667788},
             {"$eax", 0x55667788},
             {"$ax", 0x7788},
             {"$al", 0x88},
             {"$ah", 0x77},
             {"reg(\"rax\") == $rax", 1},
             {"$rsi == arg1", 1},
             {"$arg1 & 0xff", 5},
             {"(int)arg1", 5},
             {"$r8d", 0},
             {"*(int *)arg2", 10},
             {"$rflags", 0x246}});
  TestProgram program;
  program.machine.vectors[1][0] = std::bit_cast<uint64_t>(1.5);
  const HitScopes site{.scope = &program.scope};
  EXPECT_EQ(value_of("farg1 == 1.5", program, site), 1);
  EXPECT_EQ(value_of("$xmm1 > 1.5", program, site), 0);
}

TEST(Checker, texts) {
  check_all({{"req->path == \"/admin\"", 1},
             {"req->path == \"/adm\"", 0},
             {"req->path != \"/admin\"", 0},
             {"\"/admin\" == req->path", 1},
             {"req->path + 1 == \"admin\"", 1},
             {"startswith(req->path, \"/adm\")", 1},
             {"startswith(req->path, \"/x\")", 0},
             {"req->name == \"worker\"", 1},
             {"req->name == \"this is more than 16\"", 0},
             {"startswith(req->name, \"work\")", 1},
             {"req->path[0..3] == \"/ad\"", 1},
             {"req->path[0..3] == \"/adm\"", 0},
             {"req->path[1] == 'a'", 1},
             {"(char *)arg0 == \"x\"", 0}});
}

TEST(Checker, what_returns_know) {
  check_all({{"ret == 0xffffffff", 1},
             {"(int)ret == -1", 1},
             {"(int)ret < 0", 1},
             {"(long)ret > 0", 1},
             {"latency_ns", 1000},
             {"latency", 1000},
             {"latency > 999ns && latency < 2us", 1},
             {"depth != 0 && tail == 0", 1},
             {"$return", 0xffffffff},
             {"entry(n) + 1", 6},
             {"entry(req)->id", -5},
             {"entry(req->id) + entry(n)", 0},
             {"entry(arg1) == entry($rsi)", 1}},
            true);
  TestProgram program;
  program.machine.returned = 0xffffffff;
  program.scope.result = &builtin("int");
  const HitScopes site{.scope = &program.scope, .is_return = true, .entry = &program.scope};
  EXPECT_EQ(value_of("$return", program, site), -1);
  EXPECT_EQ(value_of("ret", program, site), 0xffffffff);
}

TEST(Checker, faults) {
  TestProgram program;
  const HitScopes site{.scope = &program.scope};
  EXPECT_EQ(value_of("*(int *)0", program, site), std::nullopt);
  EXPECT_EQ(value_of("n / (n - 5)", program, site), std::nullopt);
  EXPECT_EQ(value_of("n == 4 && *(int *)0", program, site), 0);
  EXPECT_EQ(value_of("*(int *)0 || 1", program, site), std::nullopt);
}

// An element that is not there is none.
TEST(Checker, elements_beyond_an_array) {
  check_all({{"array[n - 1]", 50}, {"copy.headers[n - 2].size", 103}});
  TestProgram program;
  for (const char* text : {"array[n]", "array[n - 6]", "array[-n]", "copy.headers[n].size",
                           "copy.name[4 * n]", "&array[n]", "&copy.headers[n].size"})
    EXPECT_EQ(value_of(text, program, {.scope = &program.scope}), std::nullopt) << text;
  const auto length_of = [&](const std::string& slice) {
    const auto captured = compile_capture(slice, {.scope = &program.scope}, {});
    return captured ? run(captured->program, program.machine)->front().bytes.size() / sizeof(int) : SIZE_MAX;
  };
  EXPECT_EQ(length_of("array[1..n]"), 4U);
  EXPECT_EQ(length_of("array[1..n + 90]"), 4U);
  EXPECT_EQ(length_of("array[n..n + 3]"), 0U);
  EXPECT_EQ(length_of("array[n - 6..3]"), 0U);
  EXPECT_EQ(length_of("array[0..5]"), 5U);
}

TEST(Checker, loads_are_shared_and_constants_folded) {
  TestProgram program;
  const HitScopes site{.scope = &program.scope};
  const auto loads = [&](const char* text) {
    const auto captured = compile_filter(text, site);
    EXPECT_TRUE(captured) << text;
    return std::count_if(captured->program.code.nodes.begin(), captured->program.code.nodes.end(),
                         [](const Node& n) { return n.op == Op::kLoad; });
  };
  EXPECT_EQ(loads("req->next->id == 1 || req->next->state == IDLE || req->next->id == 3"), 3);
  EXPECT_EQ(loads("req->id == 1"), 1);
  const auto constant = compile_filter("1 + 2 == 3", site);
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant->program.code.nodes.size(), 1U);
  const auto small = compile_filter("n > 100", site);
  EXPECT_EQ(small->program.code.nodes.size(), 4U);  // the register, its low half, the number, the comparison
}

TEST(Checker, errors_say_what_and_where) {
  TestProgram program;
  const HitScopes entry{.scope = &program.scope}, exit{.scope = &program.scope, .is_return = true};
  const auto refuses = [](const HitScopes& site, const char* text, const char* message) {
    const auto captured = compile_capture(text, site, {});
    ASSERT_FALSE(captured) << text;
    EXPECT_EQ(captured.error().kind(), ErrorKind::kUsage);
    EXPECT_THAT(captured.error().message(), testing::HasSubstr(message)) << text;
  };
  refuses(
      entry, "reg->id",
      "there is no variable 'reg' here: visible are req, array, copy, global, gone, n, numbers, pair, self, "
      "small\n  reg->id\n  ^~~");
  refuses(entry, "req->pat", "struct request has no member 'pat'; it has path, as_float");
  refuses(entry, "req->pat", "\n  req->pat\n       ^~~");
  refuses(entry, "n->x", "its type is int: it is no pointer\n  n->x\n  ^");
  refuses(entry, "copy->id", "it is no pointer: use . instead of ->");
  refuses(entry, "n.x", "its type is int: it has no members");
  refuses(entry, "*n", "its type is int: it is no pointer\n  *n\n  ^~");
  refuses(entry, "*req->data", "it points to void: say what it is, as in *(int *)p");
  refuses(entry, "n[2]", "its type is int: it is no array");
  refuses(entry, "copy + 1", "its type is struct request: it is no number");
  refuses(entry, "req * 2", "there is no struct request * * int: cast pointers to (long) first");
  refuses(entry, "n == \"x\"",
          "its type is int: it cannot be compared with a text\n  n == \"x\"\n  ^~~~~~~~");
  refuses(entry, "req->path < \"x\"", "texts can be compared with == and != only");
  refuses(entry, "req->ratio + 1", "floating-point numbers can be shown and compared, not computed with");
  refuses(entry, "(int)req->ratio", "not computed with");
  refuses(entry, "req->ratio < n", "can be compared with another, or with a constant");
  refuses(entry, "array[5]", "the array has 5 elements, and this is beyond them\n  array[5]\n  ^~~~~~~~");
  refuses(entry, "array[-1]", "the array has 5 elements, and this is beyond them");
  refuses(entry, "array[2..6]", "the array has 5 elements, and this is beyond them");
  refuses(entry, "copy.headers[4].size", "the array has 4 elements, and this is beyond them");
  refuses(entry, "gone + 1", "it is optimized out: it has no value at this place\n  gone + 1\n  ^~~~");
  refuses(entry, "&n", "it is in registers here: it has no address");
  refuses(entry, "(struct nothing *)n",
          "there is no type 'struct nothing'\n  (struct nothing *)n\n   ^~~~~~");
  refuses(entry, "(struct request)n", "int cannot be taken as struct request");
  refuses(entry, "n / 0", "division by zero");
  refuses(entry, "ret", "'ret' is known only where a function returns: with --return");
  refuses(entry, "entry(n)", "entry(x) is known only where a function returns: with --return");
  refuses(entry, "$rxx", "there is no register 'rxx': use $rax");
  refuses(entry, "f(1)",
          "there is no function 'f': there are entry, startswith, reg and sizeof\n  f(1)\n  ^~~~");
  refuses(entry, "x.c::n", "there is no variable 'n' in 'x.c'");
  refuses(entry, "\"text\"", "a text is nothing to capture");
  refuses(entry, "small == 300", "no unsigned char is that large");
  refuses(exit, "arg0", "arguments are gone when a function returns: use entry(arg0)");
  refuses(exit, "ret == -1", "ret is unsigned: say (int)ret or (long)ret\n  ret == -1\n  ^~~~~~~~~");
  refuses(exit, "depth == -1", "it is never negative");
  refuses(exit, "(int)ret == 3000000000", "no int is that large");
  refuses(
      exit, "latencies > 5",
      "there is no variable 'latencies' here: visible are $return, ret, latency_ns, depth, tail, and at the "
      "entry, by entry(...), array, copy");
  refuses(exit, "n + 1", "arguments and locals are gone when a function returns: use entry(n)\n  n + 1\n  ^");
  const HitScopes both{.scope = &program.scope, .is_return = true, .entry = &program.scope};
  refuses(both, "entry(nn)", "there is no variable 'nn' here: visible are n");
  refuses(both, "entry(entry(n))", "entry(x) is known only where a function returns");
  refuses(both, "entry(ret)", "'ret' is known only where a function returns");
  refuses(both, "entry(array)", "an array is too large to be kept from the entry: entry(a[0]) keeps one");
  std::string sum = "n";
  for (int i = 0; i < 40; ++i) sum += "*n";
  refuses(entry, sum.c_str(), "this needs too many steps");
  program.scope.missing = "libx.so has no debugging information (looked in /usr/lib/debug)";
  program.scope.variables.clear();
  refuses(entry, "n",
          "there is no variable 'n' here: libx.so has no debugging information (looked in /usr/lib/debug); "
          "without it there are arg0 to arg5, farg0 to farg7, registers ($rax), casts like *(int *)$rdi\n  "
          "n\n  ^");
}

TEST(Checker, filters_of_returns_mean_what_they_did) {
  TestProgram program;
  program.scope.variables.clear();
  program.machine.returned = 0xffffffff;
  program.machine.took = 1000;
  program.machine.calls = 2;
  const HitScopes site{.scope = &program.scope, .is_return = true};
  const auto passes = [&](const char* text) {
    const auto captured = compile_filter(text, site);
    EXPECT_TRUE(captured) << text << captured.error().message();
    return captured && run(captured->program, program.machine).has_value();
  };
  for (const char* text :
       {"latency_ns > 999", "latency_ns >= 1000", "latency_ns == 1000", "999 < latency_ns",
        "ret == 0xffffffff", "(int)ret == -1", "( int ) ret < 0", "(long)ret > 0", "depth != 0 && tail == 0",
        "depth==1||depth==2", "!(depth == 1)", "depth == 1 && depth == 1 || tail == 0",
        "tail == 1 || depth == 2 && ret > 017", "((depth <= 2))", "latency_ns != 5"})
    EXPECT_TRUE(passes(text)) << text;
  for (const char* text : {"latency_ns > 1000", "ret == 0", "(int)ret >= 0", "depth == 1 || tail == 1",
                           "!(depth == 2)", "depth == 2 && (tail == 1 || ret == 1)", "1000 < latency_ns"})
    EXPECT_FALSE(passes(text)) << text;
}

}  // namespace
}  // namespace blip::script
