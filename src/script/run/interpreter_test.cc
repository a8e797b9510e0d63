// SPDX-License-Identifier: MIT
#include "script/run/interpreter.h"

#include <gmock/gmock.h>

#include "script/blocks/test_blocks.h"
#include "script/ir/test_programs.h"
#include "script/run/test_run.h"

namespace blip::script {
namespace {

// What comes out of function 0, and at last the failure if there is one.
std::string ran(const Program& program, const HitContext& hit = {}, const RunLimits& limits = {}) {
  TestSink sink;
  std::vector<state::Map> maps = maps_of(program);
  Interpreter interpreter(program, maps, sink, limits);
  const Outcome outcome = interpreter.run(0, hit);
  if (outcome.failure != Failure::kNothing) sink.out += "failed: " + outcome.message + "\n";
  return sink.out;
}

// The lines of a handler, which has locals of both types, captured values and maps; format 0 is for one number, 1 for one text.
Program handler(const std::string& lines, const std::string& rest = "") {
  return verified(
      "texts 16\n"
      "map 0 \"n\" (i64) i64 limit 3 fail kept\n"
      "map 1 \"s\" (str) stats limit 10 fail kept\n"
      "map 2 \"t\" () str limit 1 fail kept\n"
      "format 0 \"\" (i64)\nformat 1 \"\" (str)\n"
      "function h probe 0 at blip\n  local 0 i64\n  local 1 str\n  captured 0 i64\n  captured 1 str\n"
      "  walk 0 map 0\n  walk 1 map 1\n" +
      lines + "\n" + rest);
}

constexpr CapturedValue kCapturedFaults[] = {{.is_fault = true}, {.is_fault = true}};

std::string of(const std::string& lines) {
  return ran(handler("b0:\n" + lines + "\nreturn"), {.captured = kCapturedFaults});
}

TEST(Interpreter, numbers) {
  EXPECT_EQ(of("v0 = add 2 3\nemit 0 (v0)"), "emit 0 5\n");
  EXPECT_EQ(of("v0 = less_equal signed -1 0\nv1 = less_equal -1 0\nemit 0 (v0)\nemit 0 (v1)"),
            "emit 0 1\nemit 0 0\n");
  EXPECT_EQ(of("v0 = extend 1 signed 0xff\nv1 = extend 1 0x1ff\nemit 0 (v0)\nemit 0 (v1)"),
            "emit 0 -1\nemit 0 255\n");
  EXPECT_EQ(of("v0 = shr signed -8 1\nv1 = shl 1 64\nemit 0 (v0)\nemit 0 (v1)"), "emit 0 -4\nemit 0 0\n");
  EXPECT_EQ(of("v0 = div signed -7 2\nv1 = mod signed -7 2\nemit 0 (v0)\nemit 0 (v1)"),
            "emit 0 -3\nemit 0 -1\n");
  EXPECT_EQ(of("v0 = lookup {1:10, 2:20} 2\nemit 0 (v0)"), "emit 0 20\n");
}

TEST(Interpreter, what_is_not_looked_at_does_no_harm) {
  const std::string fault = "vf = captured 0\n";
  EXPECT_EQ(of(fault + "v0 = logical_and 0 vf\nemit 0 (v0)"), "emit 0 0\n");
  EXPECT_EQ(of(fault + "v0 = logical_or 7 vf\nemit 0 (v0)"), "emit 0 1\n");
  EXPECT_EQ(of(fault + "v0 = select 0 vf 5\nemit 0 (v0)"), "emit 0 5\n");
  const std::string failed = "failed: memory that cannot be read\n";
  EXPECT_EQ(of(fault + "v0 = logical_and vf 0\nemit 0 (v0)"), failed);
  EXPECT_EQ(of(fault + "v0 = select 1 vf 5\nemit 0 (v0)"), failed);
  EXPECT_EQ(of(fault + "v0 = mul 0 vf\nemit 0 (v0)"), failed);
  EXPECT_EQ(of(fault + "v0 = mul 0 vf"), "") << "nothing uses it";
  EXPECT_EQ(of(fault + "v0 = add vf 1\nv1 = select 1 2 v0\nv2 = default v0 9\nemit 0 (v1)\nemit 0 (v2)"),
            "emit 0 2\nemit 0 9\n");
}

TEST(Interpreter, faults_have_reasons) {
  EXPECT_EQ(of("v0 = div 1 0\nemit 0 (v0)"), "failed: division by 0\n");
  EXPECT_EQ(of("v0 = mod signed 1 0\nv1 = default v0 0\nemit 0 (v1)"), "emit 0 0\n");
  EXPECT_EQ(of("v0 = lookup {1:10, 2:20} 3\nemit 0 (v0)"), "failed: a value without a name\n");
  EXPECT_EQ(of("v0 = text \"a\"\nv1 = statistic average 1 (v0)\nemit 0 (v1)"), "failed: empty aggregate\n");
}

TEST(Interpreter, a_read_of_a_local_is_where_it_stands) {
  EXPECT_EQ(of("v0 = local 0\nset 0 5\nv1 = local 0\nemit 0 (v0)\nemit 0 (v1)"), "emit 0 0\nemit 0 5\n");
  EXPECT_EQ(of("v0 = local 0\nv1 = add v0 1\nset 0 v1\nv2 = local 0\nv3 = add v2 v1\nset 0 v3\nv4 = local "
               "0\nemit 0 (v4)"),
            "emit 0 2\n");
  EXPECT_EQ(of("v0 = local 0\nset 0 5\nv1 = select 1 v0 7\nemit 0 (v1)"), "emit 0 0\n");
}

TEST(Interpreter, texts) {
  EXPECT_EQ(
      of("v0 = text \"ab\"\nv1 = apply concat (v0, v0)\nv2 = apply length (v1)\nemit 1 (v1)\nemit 0 (v2)"),
      "emit 1 \"abab\"\nemit 0 4\n");
  EXPECT_EQ(of("v0 = text \"0123456789\"\nv1 = apply concat (v0, v0)\nemit 1 (v1)"),
            "emit 1 \"0123456789012345\"\n")
      << "cut at the program's limit";
  EXPECT_EQ(of("v0 = text \"abcdef\"\nv1 = apply substring (v0, 2, 3)\nemit 1 (v1)\nv2 = apply substring "
               "(v0, 9, 1)\nemit 1 (v2)"),
            "emit 1 \"cde\"\nemit 1 \"\"\n");
  EXPECT_EQ(of("v0 = text \"abc\"\nv1 = text \"abd\"\nv2 = apply compare (v0, v1)\nv3 = apply compare_first "
               "(v0, v1, 2)\n"
               "v4 = text \"bd\"\nv5 = apply contains (v1, v4)\nemit 0 (v2)\nemit 0 (v3)\nemit 0 (v5)"),
            "emit 0 -1\nemit 0 0\nemit 0 1\n");
  EXPECT_EQ(of("v0 = text \"-12x\"\nv1 = apply parse_number (v0, 10)\nv2 = apply print_number (v1)\nemit 0 "
               "(v1)\nemit 1 (v2)"),
            "emit 0 -12\nemit 1 \"-12\"\n");
  EXPECT_EQ(of("v0 = sprint 0 (7)\nemit 1 (v0)"), "emit 1 \"0 7\"\n");
}

TEST(Interpreter, captured_values_and_the_hit) {
  const CapturedValue captured[] = {{.value = {.number = 42}}, {.value = {.text = "path"}}};
  const HitContext hit{.clock = 9, .tid = 4, .captured = captured};
  const Program program = handler(
      "b0: v0 = captured 0\nv1 = captured 1\nv2 = clock\nv3 = tid\nemit 0 (v0)\nemit 1 (v1)\nemit 0 "
      "(v2)\nemit 0 (v3)\nreturn");
  EXPECT_EQ(ran(program, hit), "emit 0 42\nemit 1 \"path\"\nemit 0 9\nemit 0 4\n");
  EXPECT_EQ(ran(program, {}), "failed: memory that cannot be read\n");
}

TEST(Interpreter, maps) {
  EXPECT_EQ(
      of("put 0 (5) 7\nv1 = add_to 0 (5) -2\nv2 = get 0 (6)\nv3 = has 0 (6)\nv4 = has 0 (5)\nv5 = size 0\n"
         "emit 0 (v1)\nemit 0 (v2)\nemit 0 (v3)\nemit 0 (v4)\nemit 0 (v5)"),
      "emit 0 5\nemit 0 0\nemit 0 0\nemit 0 1\nemit 0 1\n");
  EXPECT_EQ(of("put 0 (1) 1\nput 0 (2) 1\nput 0 (3) 1\nput 0 (4) 1"), "failed: array overflow\n");
  EXPECT_EQ(of("v0 = text \"x\"\nput 2 () v0\nv1 = get 2 ()\nv2 = apply concat (v1, v1)\nput 2 () v2\nv3 = "
               "get 2 ()\nemit 1 (v3)"),
            "emit 1 \"xx\"\n");
  EXPECT_EQ(of("put 0 (1) 5\nzero 0\nv1 = get 0 (1)\nemit 0 (v1)\nv2 = delete 0 (1)\nv3 = delete 0 (1)\nemit "
               "0 (v2)\nemit 0 (v3)"),
            "emit 0 0\nemit 0 1\nemit 0 0\n");
  EXPECT_EQ(
      of("v0 = text \"k\"\ntally 1 (v0) 3\ntally 1 (v0) 8\nv1 = statistic sum 1 (v0)\nv2 = statistic average "
         "1 (v0)\n"
         "emit 0 (v1)\nemit 0 (v2)\nprint 1 ()\nprint 1 (v0)\nclear 1\nv3 = size 1\nemit 0 (v3)\nexit 3"),
      "emit 0 11\nemit 0 5\nprint 1\nprint 1 key of 5 bytes\nemit 0 0\nexit 3\n");
}

TEST(Interpreter, walks) {
  const std::string fill = "b0: put 0 (5) 1\nput 0 (3) 9\nput 0 (4) 4\n";
  const std::string loop =
      "jump loop\nloop: budget 20\nv0 = next 0\nbranch v0 body done\n"
      "body: v1 = walk_key 0 0\nv2 = walk_value 0\nv3 = mul v1 100\nv4 = add v3 v2\nemit 0 (v4)\njump "
      "loop\ndone: return";
  EXPECT_EQ(ran(handler(fill + "walk age 0 -1\n" + loop)), "emit 0 501\nemit 0 309\nemit 0 404\n");
  EXPECT_EQ(ran(handler(fill + "walk value descending 0 2\n" + loop)), "emit 0 309\nemit 0 404\n");
  EXPECT_EQ(ran(handler(fill + "walk key 0 0 -1\nv9 = delete 0 (4)\n" + loop)), "emit 0 309\nemit 0 501\n");
  EXPECT_EQ(of("v0 = walk_key 0 0\nemit 0 (v0)\nv1 = next 0\nemit 0 (v1)"), "emit 0 0\nemit 0 0\n")
      << "no walk yet";
  EXPECT_EQ(of("v0 = text \"key\"\ntally 1 (v0) 1\nwalk statistic count 1 9\nv1 = next 1\nv2 = walk_key 0 "
               "1\nemit 1 (v2)"),
            "emit 1 \"key\"\n");
}

TEST(Interpreter, branches_and_switches) {
  const auto which = [&](const std::string& value) {
    return ran(
        handler("b0: switch " + value +
                " 5:b1 -1:b2 b3\nb1: emit 0 (1)\nreturn\nb2: emit 0 (2)\nreturn\nb3: emit 0 (3)\nreturn"));
  };
  EXPECT_EQ(which("5"), "emit 0 1\n");
  EXPECT_EQ(which("-1"), "emit 0 2\n");
  EXPECT_EQ(which("0"), "emit 0 3\n");
  for (const char* test : {"equal 3 3", "not_equal 3 4", "less 3 4", "less signed -3 4", "less_equal 4 4",
                           "less_equal signed -4 4", "logical_not 0"})
    for (const char* targets : {"b1 b2", "b2 b1"})
      EXPECT_EQ(ran(handler(std::string("b0: v0 = ") + test + "\nbranch v0 " + targets +
                            "\nb1: emit 0 (1)\nreturn\nb2: emit 0 (2)\nreturn")),
                targets[1] == '1' ? "emit 0 1\n" : "emit 0 2\n")
          << test;
}

TEST(Interpreter, loops_end_with_their_budget) {
  const Program counts = handler(
      "b0: jump b1\nb1: budget 8\nv0 = local 0\nv1 = add v0 1\nset 0 v1\nv2 = less v1 100\nbranch v2 b1 b2\n"
      "b2: v0 = local 0\nemit 0 (v0)\nreturn");
  EXPECT_EQ(ran(counts), "emit 0 100\n");
  EXPECT_EQ(ran(counts, {}, {.budget = 800}), "emit 0 100\n");
  EXPECT_EQ(ran(counts, {}, {.budget = 799}), "failed: too many operations for one hit\n");
}

TEST(Interpreter, failures_are_caught_where_the_block_says) {
  const std::string caught = "b1: v0 = failure\nemit 1 (v0)\nreturn\n";
  EXPECT_EQ(ran(handler("b0: else b1\nv0 = text \"why\"\nfail v0\n" + caught)), "emit 1 \"why\"\n");
  EXPECT_EQ(ran(handler("b0: else b1\nv0 = div 1 0\nemit 0 (v0)\nreturn\n" + caught)),
            "emit 1 \"division by 0\"\n");
  EXPECT_EQ(ran(handler("b0: else b1\nv0 = call 1 ()\nemit 0 (v0)\nreturn\n" + caught,
                        "function f returns i64 at blip\nb0: v0 = text \"in f\"\nfail v0\n")),
            "emit 1 \"in f\"\n");
  EXPECT_EQ(ran(handler("b0: else b1\njump b2\nb1: return\nb2: budget 2\njump b2")),
            "failed: too many operations for one hit\n");
}

TEST(Interpreter, calls) {
  const std::string factorial =
      "function factorial parameters 1 returns i64 at blip\n  local 0 i64\n"
      "b0: v0 = local 0\nv1 = less signed v0 2\nbranch v1 b1 b2\nb1: return 1\n"
      "b2: v0 = local 0\nv1 = sub v0 1\nv2 = call 1 (v1)\nv3 = mul v0 v2\nreturn v3\n";
  EXPECT_EQ(ran(handler("b0: v0 = call 1 (10)\nemit 0 (v0)\nreturn", factorial)), "emit 0 3628800\n");
  EXPECT_EQ(ran(handler("b0: v0 = call 1 (100)\nemit 0 (v0)\nreturn", factorial)),
            "failed: calls are nested too deep\n");
  EXPECT_EQ(ran(handler("b0: v0 = call 1 (10)\nemit 0 (v0)\nreturn", factorial), {}, {.budget = 50}),
            "failed: too many operations for one hit\n");
  EXPECT_EQ(
      ran(handler(
          "b0: v0 = text \"a\"\nv1 = call 1 (3, v0)\nemit 1 (v1)\nreturn",
          "function twice parameters 2 returns str at blip\n  local 0 i64\n  local 1 str\n  local 2 str\n"
          "b0: v0 = local 2\nv1 = local 1\nv2 = apply concat (v1, v0)\nv3 = apply concat (v2, v1)\nreturn "
          "v3\n")),
      "emit 1 \"aa\"\n")
      << "other locals are empty";
}

TEST(Interpreter, texts_of_a_long_loop_are_forgotten) {
  const Program loop = handler(
      "b0: v0 = text \"x\"\nset 1 v0\njump b1\n"
      "b1: budget 20\nv0 = local 0\nv1 = add v0 1\nset 0 v1\nv2 = apply print_number (v1)\nv3 = local 1\nv4 "
      "= apply concat (v3, v2)\n"
      "v5 = apply substring (v4, 0, 9)\nset 1 v5\nv6 = less v1 20000\nbranch v6 b1 b2\nb2: v0 = local "
      "1\nemit 1 (v0)\nreturn");
  EXPECT_EQ(ran(loop, {}, {.budget = 1'000'000, .texts = 1 << 17}), "emit 1 \"x12345678\"\n");
  EXPECT_EQ(ran(loop, {}, {.budget = 1'000'000, .texts = 1 << 12}), "failed: too much text in one hit\n");
}

TEST(Interpreter, a_handler_at_the_hit_sees_the_machine) {
  const Program program = verified(
      "format 0 \"\" (i64)\nformat 1 \"\" (str)\nfunction h probe 0 at hit\n"
      "b0: v0 = register 7\nv1 = load 2 v0\nemit 0 (v1)\nv2 = read_text 3 v0\nemit 1 (v2)\nv3 = text_prefix "
      "\"he\" v0\nemit 0 (v3)\n"
      "v4 = read_text 9 0x10\nemit 1 (v4)\nreturn\n");
  TestMachine machine;
  machine.registers[7] = 0x1000;
  machine.put(0x1000, "hello", 6);
  EXPECT_EQ(ran(program, {.machine = &machine}),
            "emit 0 25960\nemit 1 \"hel\"\nemit 0 1\nfailed: memory that cannot be read\n");
}

TEST(Interpreter, one_run_leaves_nothing_but_maps_for_the_next) {
  const Program program =
      handler("b0: v0 = local 0\nv1 = add v0 1\nset 0 v1\nv2 = add_to 0 (1) v1\nemit 0 (v2)\nreturn");
  TestSink sink;
  std::vector<state::Map> maps = maps_of(program);
  Interpreter interpreter(program, maps, sink);
  for (int i = 0; i < 3; ++i) interpreter.run(0, {});
  EXPECT_EQ(sink.out, "emit 0 1\nemit 0 2\nemit 0 3\n");
  EXPECT_GT(interpreter.instructions(), 9U);
}

}  // namespace
}  // namespace blip::script
