// SPDX-License-Identifier: MIT
#include "script/blocks/text.h"

#include <gmock/gmock.h>

#include "script/blocks/operations.h"
#include "script/blocks/test_blocks.h"
#include "script/ir/verify.h"

namespace blip::script {
namespace {

TEST(BlockOperations, agree_with_the_operands_of_expressions) {
  for (size_t i = 0; i <= static_cast<size_t>(Op::kEntryValue); ++i) {
    const auto op = static_cast<Op>(i);
    EXPECT_EQ(operation(op).operands, arity(op)) << operation(op).name;
    EXPECT_EQ(find_operation(operation(op).name), &operation(op)) << "two have this name";
  }
}

// Has each kind of line.
constexpr const char* kAll = R"(texts 64
map 0 "@start" (i64, str) i64 unsigned limit 4096 drop own
map 1 "a \"b\"\x0a" () stats hist 2 limit 1 fail tally
map 2 "c" (str) stats lhist -5 100 10 limit 10 replace kept
map 3 "d" (i64) str limit 10 replace kept
format 0 "%d %s\x0a" (i64, str)
format 1 "" ()
function h1 probe 3 at hit
  local 0 i64
  local 1 str
  walk 0 map 2
b0: else b2
    v0 = register 7
    v1 = load 8 signed v0
    v2 = constant -1
    v3 = less signed v2 v1
    v4 = lookup {-3:1, 1:-2} v1
    v5 = read_text 10 v1
    set 0 v4
    put 0 (v1, v5) v4
    v8 = add_to 0 (v1, v5) v4
    tally 1 () v4
    v10 = statistic average 2 (v5)
    switch v10 1:b1 -2:b2 b0
b1:
    v0 = constant 5
    walk statistic sum descending 0 v0
    walk key 0 0 v0
    v3 = next 0
    v4 = walk_key 0 0
    v5 = apply concat (v4, v4)
    emit 0 (v3, v5)
    emit 1 ()
    print 2 ()
    branch v3 b2 b1
b2:
    v0 = failure
    fail v0
function f2 parameters 1 returns str at blip
  local 0 i64
b0:
    budget 3
    v1 = local 0
    v2 = call 1 (v1)
    v3 = text "\xff\\"
    return v3
function h3 probe 4 at blip
  captured 0 str
b0:
    jump b0
)";

TEST(BlockText, is_read_and_printed_as_the_same) { EXPECT_EQ(print(parsed(kAll)), kAll); }

TEST(BlockText, names_may_be_chosen_and_numbers_become_constants) {
  const Program program = parsed(
      "function f returns i64 at blip  # and what follows is for the reader\n"
      "start: jump done\n"
      "done: vsum = add 1 0x10\n"
      "  return vsum\n");
  EXPECT_EQ(print(program),
            "texts 128\nfunction f returns i64 at blip\nb0:\n    jump b1\nb1:\n    v0 = constant 1\n"
            "    v1 = constant 16\n    v2 = add v0 v1\n    return v2\n");
}

TEST(BlockText, errors_say_where_and_what) {
  const auto error = [](const std::string& text) {
    const auto program = parse_program(text);
    return program ? "" : program.error().message();
  };
  const std::string f = "function f at blip\n";
  EXPECT_EQ(error("map 1"), "line 1: its number is not 0, which is the next");
  EXPECT_EQ(error("jump b0"), "line 1: not in a function: jump");
  EXPECT_EQ(error("texts 99999999999"), "line 1: the number is too large: 99999999999");
  EXPECT_EQ(error("map 0 \"a\" (i32) i64 limit 1 fail kept"), "line 1: no such type: i32");
  EXPECT_EQ(error("format 0 \"a\\n\" ()"), "line 1: only \\\\, \\\" and \\xNN may follow a backslash");
  EXPECT_EQ(error("format 0 \"a"), "line 1: a text does not end");
  EXPECT_EQ(error("function f at home"), "line 1: no such place: home");
  EXPECT_EQ(error(f + "b0:\n"), "function f: its last block has no terminator");
  EXPECT_EQ(error(f + "b0: return\nset 0 1"), "line 3: \":\" is missing before 0");
  EXPECT_EQ(error(f + "b0: jump b1\n"), "function f: no such block: b1");
  EXPECT_EQ(error(f + "b0: v0 = foo"), "line 2: no such operation: foo");
  EXPECT_EQ(error(f + "b0: v0 = set 0 1"), "line 2: it makes no value: set");
  EXPECT_EQ(error(f + "b0: v0 = pid\nv0 = pid"), "line 3: a second value v0");
  EXPECT_EQ(error(f + "b0: v0 = pid\nreturn\nb1: return v0"), "line 4: no such value in this block: v0");
  EXPECT_EQ(error(f + "b0: return\nb0: return"), "line 3: a second block b0");
  EXPECT_EQ(error(f + "b0: v0 = pid\nb1: return"), "line 3: the block before b1 has no terminator");
  EXPECT_EQ(error(f + "b0: v0 = apply sqrt (1)"), "line 2: no such function of the library: sqrt");
  EXPECT_EQ(error(f + "b0: return 1 2"), "line 2: unexpected: 2");
  EXPECT_EQ(error(f + "b0: v0 = add 1"), "line 2: a word is missing");
}

}  // namespace
}  // namespace blip::script
