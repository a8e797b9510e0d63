// SPDX-License-Identifier: MIT
#include "script/blocks/verify.h"

#include <gmock/gmock.h>

#include "script/blocks/test_blocks.h"

namespace blip::script {
namespace {

using testing::HasSubstr;

// A function at blip, with what most cases need.
std::string in_blip(const std::string& lines) {
  return "map 0 \"n\" (i64) i64 limit 10 fail kept\n"
         "map 1 \"s\" (str) stats limit 10 fail kept\n"
         "map 2 \"t\" () str limit 1 fail kept\n"
         "format 0 \"%d\" (i64)\n"
         "function f probe 0 at blip\n  local 0 i64\n  local 1 str\n  captured 0 str\n  walk 0 map 0\n  walk "
         "1 map 1\n" +
         lines + "\n";
}

// One block, which returns.
std::string block(const std::string& lines) { return in_blip("b0:\n" + lines + "\nreturn"); }

std::string in_target(const std::string& lines, const std::string& kind = "kept",
                      const std::string& value = "i64") {
  return "map 0 \"n\" (i64) " + value + " limit 10 fail " + kind +
         "\nfunction f probe 0 at target\n  local 0 i64\nb0:\n" + lines + "\nreturn\n";
}

struct Case {
  std::string text, refusal;
};

TEST(VerifyBlocks, refuses_nodes_that_keep_no_rule) {
  const Case cases[] = {
      {block("v0 = captured 1"), "no such captured value"},
      {block("v0 = local 2"), "no such local"},
      {block("v0 = get 3 (1)"), "no such map"},
      {block("v0 = next 2"), "no such walk"},
      {block("emit 1 (1)"), "no such format"},
      {block("v0 = call 1 ()"), "no such function"},
      {block("budget 0"), "a budget of nothing"},
      {block("v0 = extend 3 1"), "the width is none of 1, 2, 4 and 8"},
      {block("v0 = text \"a\"\nv1 = add v0 1"), "an operand is no number"},
      {block("v0 = text \"a\"\nv1 = select v0 1 1"), "an operand is no number"},
      {block("v0 = text \"a\"\nv1 = select 1 1 v0"), "the operands are of two types"},
      {block("v0 = captured 0\nv1 = default v0 1"), "the operands are of two types"},
      {block("set 1 1"), "the local has another type"},
      {block("put 2 () 1"), "values of another type"},
      {block("v0 = text \"a\"\nv1 = get 0 (v0)"), "the key does not fit the map"},
      {block("v0 = get 0 ()"), "the key does not fit the map"},
      {block("print 0 (1, 2)"), "the key does not fit the map"},
      {block("emit 0 ()"), "the arguments do not fit"},
      {block("v0 = apply length (1)"), "the arguments do not fit"},
      {block("v0 = captured 0\nv1 = get 1 (v0)"), "the map has stats"},
      {block("v0 = add_to 2 () 1"), "the map has no numbers"},
      {block("tally 0 (1) 1"), "the map has no stats"},
      {block("v0 = statistic sum 0 (1)"), "the map has no stats"},
      {block("v0 = walk_key 1 0"), "the key has no such component"},
      {block("walk key 1 0 5"), "the key has no such component"},
      {block("v0 = walk_value 1"), "the map has stats"},
      {block("walk value 1 5"), "the map has stats"},
      {block("walk statistic sum 0 5"), "the map has no stats"},
      {block("v0 = call 0 ()"), "a handler cannot be called"},
      {block("v0 = register 1"), "cannot look at the target's state later"},
      {block("v0 = load 8 1"), "cannot look at the target's state later"},
  };
  for (const Case& c : cases) EXPECT_THAT(refusal_of(c.text), HasSubstr(c.refusal)) << c.text;
}

TEST(VerifyBlocks, refuses_what_the_target_cannot_run) {
  const Case cases[] = {
      {in_target("v0 = register 16"), "no such register"},
      {in_target("v0 = vector 2 1"), "the width is neither 4 nor 8"},
      {in_target("v0 = load_near 8 0x100000000"), "too far from the stack pointer"},
      {in_target("v0 = read_text 129 1"), "no text is that long"},
      {in_target("v0 = entry_value 14"), "no such value of the entry"},
      {in_target("v0 = text \"a\"\nv1 = apply length (v0)"), "the target has no such operation"},
      {in_target("v0 = get 0 (1)"), "the map is kept in blip"},
      {in_target("v0 = get 0 (1)", "tally"), "a tally is only updated in the target"},
      {in_target("v0 = add_to 0 (1) 1\nset 0 v0", "tally"), "a tally is only updated in the target"},
      {in_target("v0 = get 0 (1)", "own"), "the key is not this thread's own"},
  };
  for (const Case& c : cases) EXPECT_THAT(refusal_of(c.text), HasSubstr(c.refusal)) << c.text;
  std::string deep = "v0 = pid\n";
  for (uint32_t i = 1; i < kMaxDepth; ++i)
    deep += "v" + std::to_string(i) + " = not v" + std::to_string(i - 1) + "\n";
  EXPECT_EQ(refusal_of(in_target(deep)), "");
  EXPECT_THAT(refusal_of(in_target(deep + "v99 = not v23")), HasSubstr("nested too deep"));
}

TEST(VerifyBlocks, accepts_the_uses_that_each_kind_of_map_is_for) {
  EXPECT_EQ(refusal_of(in_target("tally 0 (1) 2", "tally", "stats")), "");
  EXPECT_EQ(refusal_of(in_target("v0 = add_to 0 (1) 1", "tally")), "");
  EXPECT_EQ(refusal_of(in_target("v0 = tid\nv1 = get 0 (v0)\nput 0 (v0) v1", "own")), "");
}

TEST(VerifyBlocks, refuses_ends_that_keep_no_rule) {
  const Case cases[] = {
      {in_blip("b0: return 1"), "it returns a value"},
      {"function f returns i64 at blip\nb0: return\n", "it does not return the function's result"},
      {in_blip("b0: v0 = captured 0\nbranch v0 b1 b1\nb1: return"), "it looks at no number"},
      {in_blip("b0: fail 1"), "it fails with no text"},
      {in_blip("b0: switch 1 2:b1 2:b1 b1\nb1: return"), "it has a case twice"},
      {in_blip("b0: else b0\nreturn"), "on a failure it goes to no later block"},
      {in_blip("b0: jump b0"), "a loop begins without a budget"},
      {in_blip("b0: budget 1\nv0 = pid\njump b0"), "a loop begins without a budget"},
      {in_blip("b0: jump b1\nb1: budget 4\nv0 = pid\njump b2\nb2: v0 = pid\nbranch v0 b1 b3\nb3: return"),
       ""},
      {in_blip("b0: jump b1\nb1: budget 3\nv0 = pid\njump b2\nb2: v0 = pid\nbranch v0 b1 b3\nb3: return"),
       "a loop begins without a budget"},
  };
  for (const Case& c : cases) {
    const std::string refusal = refusal_of(c.text);
    EXPECT_EQ(refusal.empty(), c.refusal.empty()) << c.text << refusal;
    EXPECT_THAT(refusal, HasSubstr(c.refusal)) << c.text;
  }
}

TEST(VerifyBlocks, refuses_declarations_that_keep_no_rule) {
  const auto map = [](const std::string& rest) { return "map 0 \"m\" " + rest + " kept\n"; };
  const std::string end = "b0: return\n";
  const Case cases[] = {
      {"texts 0\n", "its texts have no valid limit"},
      {"texts 1\nfunction f at blip\nb0: v0 = text \"ab\"\nreturn\n", "a text is longer than its limit"},
      {"function f at blip\nb0: v0 = lookup {2:1, 1:1} 1\nreturn\n",
       "a table is empty, too large or not sorted"},
      {map("(stats) i64 limit 1 fail"), "its key is not valid"},
      {map("() none limit 1 fail"), "its values have no type"},
      {map("() i64 hist 0 limit 1 fail"), "it has a histogram without stats"},
      {map("() stats hist 6 limit 1 fail"), "its histogram has too many buckets"},
      {map("() stats lhist 0 10 0 limit 1 fail"), "its histogram has no buckets"},
      {map("() stats lhist 0 2000 1 limit 1 fail"), "its histogram has too many buckets"},
      {map("() i64 limit 0 fail"), "its limit is not valid"},
      {"format 0 \"\" (stats)\n", "its arguments are too many, or without a type"},
      {"function f parameters 1 at blip\n" + end, "its parameters are no locals, or too many"},
      {"function f at blip\n  local 0 stats\n" + end, "its locals are too many, or without a type"},
      {"function f returns stats at blip\n" + end, "its result has no type"},
      {"function f probe 1 returns i64 at blip\n" + end, "a handler with parameters or a result"},
      {"function f at blip\n  captured 0 i64\n" + end, "it is no handler and has captured values"},
      {"map 0 \"\" () i64 limit 1 fail kept\nfunction f at blip\n  walk 0 map 0\n" + end, "no map with keys"},
      {"function f at target\nb0: v0 = call 1 ()\nreturn\nfunction g at hit\n" + end,
       "the called function runs elsewhere"},
  };
  for (const Case& c : cases) EXPECT_THAT(refusal_of(c.text), HasSubstr(c.refusal)) << c.text;
}

// What the text form cannot say.
TEST(VerifyBlocks, refuses_numbers_that_lead_nowhere) {
  const auto refusal = [](Block block) {
    const Program program{.functions = {{.name = "f", .blocks = {std::move(block)}}}};
    const Status status = verify(program);
    return status ? "" : status.error().message();
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_THAT(refusal({.nodes = {{.op = static_cast<Op>(200)}}}), HasSubstr("no such operation"));
  EXPECT_THAT(refusal({.nodes = {{.op = Op::kNot, .a = 0}}}), HasSubstr("does not come earlier"));
  EXPECT_THAT(refusal({.nodes = {{.op = op_of(BlockOp::kBudget), .value = 1}, {.op = Op::kNot, .a = 0}}}),
              HasSubstr("makes no value"));
  EXPECT_THAT(refusal({.nodes = {{.op = op_of(BlockOp::kText)}}}), HasSubstr("no such text"));
  EXPECT_THAT(refusal({.nodes = {{}, {.op = Op::kLookup}}}), HasSubstr("no such table"));
  EXPECT_THAT(refusal({.nodes = {{.op = op_of(BlockOp::kApply), .value = 100}}}),
              HasSubstr("no such function of the library"));
  EXPECT_THAT(refusal({.nodes = {{.op = op_of(BlockOp::kApply), .a = 1, .b = 1}}}),
              HasSubstr("outside of the block's"));
  EXPECT_THAT(refusal({.nodes = {{.op = op_of(BlockOp::kApply), .b = 1}}, .lists = {0}}),
              HasSubstr("one of its list makes no value"));
  EXPECT_THAT(refusal({.end = {.kind = Terminator::Kind::kJump, .targets = {1}}}),
              HasSubstr("no such block"));
  EXPECT_THAT(refusal({.end = {.kind = Terminator::Kind::kJump}}), HasSubstr("too many or too few"));
  EXPECT_THAT(refusal({.end = {.targets = {0}, .cases = {1}}}), HasSubstr("it has cases"));
  EXPECT_THAT(refusal({.nodes = {{}}, .end = {.kind = Terminator::Kind::kJump, .node = 0, .targets = {0}}}),
              HasSubstr("it looks at a value"));
  EXPECT_THAT(refusal({.end = {.kind = static_cast<Terminator::Kind>(9)}}), HasSubstr("no such terminator"));
  EXPECT_THAT(refusal({.on_failure = 7}), HasSubstr("on a failure it goes to no later block"));
}

TEST(VerifyBlocks, refuses_too_much) {
  const auto refusal = [](const Program& program) {
    const Status status = verify(program);
    return status ? "" : status.error().message();
  };
  const Function f{.name = "f", .blocks = {{}}};
  Program p{.functions = {f}};
  EXPECT_EQ(refusal(p), "");
  p.functions[0].blocks.resize(kMaxBlocks + 1);
  EXPECT_THAT(refusal(p), HasSubstr("it has no block, or too many"));
  p.functions[0] = f;
  p.functions[0].blocks[0].nodes.resize(kMaxFunctionNodes + 1);
  EXPECT_THAT(refusal(p), HasSubstr("it has too many nodes"));
  p.functions[0] = f;
  p.functions[0].locals.resize(kMaxLocals + 1, ValueType::kNumber);
  EXPECT_THAT(refusal(p), HasSubstr("its locals are too many"));
  p.functions[0] = f;
  p.functions[0].captured.resize(kMaxCaptured + 1, ValueType::kNumber);
  EXPECT_THAT(refusal(p), HasSubstr("its captured values are too many"));
  p.functions[0] = f;
  p.functions[0].walks.resize(kMaxWalks + 1);
  EXPECT_THAT(refusal(p), HasSubstr("its walks are too many"));
  p.functions[0].name = "a b";
  EXPECT_THAT(refusal(p), HasSubstr("its name is no word"));
  EXPECT_THAT(refusal({.maps = std::vector<state::MapType>(kMaxMaps + 1)}), HasSubstr("too many maps"));
  EXPECT_THAT(refusal({.formats = std::vector<Format>(kMaxFormats + 1)}), HasSubstr("too many formats"));
  EXPECT_THAT(refusal({.functions = std::vector<Function>(kMaxFunctions + 1, f)}),
              HasSubstr("too many functions"));
}

}  // namespace
}  // namespace blip::script
