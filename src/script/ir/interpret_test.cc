// SPDX-License-Identifier: MIT
#include "script/ir/interpret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "script/ir/test_programs.h"
#include "script/ir/verify.h"

namespace blip::script {
namespace {

constexpr uint64_t kBad = 0x10;  // an address where nothing is
constexpr std::optional<uint64_t> kFault;

std::optional<uint64_t> binary(Op op, uint64_t a, uint64_t b, bool is_signed = false) {
  Code code;
  const uint32_t left = code.constant(a), right = code.constant(b);
  const uint32_t all = code.add({.op = op, .is_signed = is_signed, .a = left, .b = right});
  return interpret(code, all, TestMachine());
}

TEST(Interpret, division) {
  EXPECT_EQ(binary(Op::kDiv, 7, 2), 3U);
  EXPECT_EQ(binary(Op::kDiv, uint64_t(-7), 2, true), uint64_t(-3));
  EXPECT_EQ(binary(Op::kMod, uint64_t(-7), 2, true), uint64_t(-1));
  EXPECT_EQ(binary(Op::kDiv, 1, 0), kFault);
  EXPECT_EQ(binary(Op::kMod, 1, 0, true), kFault);
  const uint64_t least = uint64_t{1} << 63;
  EXPECT_EQ(binary(Op::kDiv, least, UINT64_MAX, true), least);
  EXPECT_EQ(binary(Op::kMod, least, UINT64_MAX, true), 0U);
}

TEST(Interpret, shifts_and_comparisons) {
  EXPECT_EQ(binary(Op::kShl, 1, 64), 0U);
  EXPECT_EQ(binary(Op::kShr, UINT64_MAX, 64), 0U);
  EXPECT_EQ(binary(Op::kShr, UINT64_MAX, 64, true), UINT64_MAX);
  EXPECT_EQ(binary(Op::kLess, UINT64_MAX, 1), 0U);
  EXPECT_EQ(binary(Op::kLess, UINT64_MAX, 1, true), 1U);
  const auto bits = [](double d) { return std::bit_cast<uint64_t>(d); };
  EXPECT_EQ(binary(Op::kLessFloat, bits(-1.5), bits(0.5)), 1U);
  EXPECT_EQ(binary(Op::kEqualFloat, bits(0.0), bits(-0.0)), 1U);
  EXPECT_EQ(binary(Op::kLessEqualFloat, bits(std::numeric_limits<double>::quiet_NaN()), bits(1)), 0U);
}

TEST(Interpret, a_side_that_is_not_looked_at_does_not_fault) {
  Code code;
  const uint32_t no = code.constant(0), yes = code.constant(5);
  const uint32_t fault = code.add({.op = Op::kLoad, .a = code.constant(kBad)});
  const auto of = [&](Node n) { return interpret(code, code.add(n), TestMachine()); };
  EXPECT_EQ(of({.op = Op::kLogicalAnd, .a = no, .b = fault}), 0U);
  EXPECT_EQ(of({.op = Op::kLogicalAnd, .a = yes, .b = fault}), kFault);
  EXPECT_EQ(of({.op = Op::kLogicalAnd, .a = fault, .b = no}), kFault);
  EXPECT_EQ(of({.op = Op::kLogicalOr, .a = yes, .b = fault}), 1U);
  EXPECT_EQ(of({.op = Op::kSelect, .a = no, .b = fault, .c = yes}), 5U);
  EXPECT_EQ(of({.op = Op::kSelect, .a = yes, .b = fault, .c = yes}), kFault);
  EXPECT_EQ(of({.op = Op::kMul, .a = no, .b = fault}), kFault);
}

TEST(Interpret, texts_are_read_no_further_than_needed) {
  TestMachine machine;
  machine.put(0x1000, "abc", 3);  // no NUL: what follows cannot be read
  Code code{.texts = {"abx", "abc", "ab"}};
  const uint32_t address = code.constant(0x1000), length = code.constant(2);
  const auto of = [&](Op op, uint64_t text) {
    return interpret(code, code.add({.op = op, .a = address, .b = length, .value = text}), machine);
  };
  EXPECT_EQ(of(Op::kTextEqual, 0), 0U);
  EXPECT_EQ(of(Op::kTextEqual, 1), kFault);
  EXPECT_EQ(of(Op::kTextEqual, 2), 0U);
  EXPECT_EQ(of(Op::kTextPrefix, 1), 1U);
  EXPECT_EQ(of(Op::kBytesEqual, 2), 1U);
  EXPECT_EQ(of(Op::kBytesEqual, 1), 0U);
}

TEST(Interpret, outputs_as_the_record_holds_them) {
  TestMachine machine;
  machine.put(0x1000, "hello\0...", 9);
  machine.registers[1] = 0x1234567;
  HitProgram p;
  const uint32_t address = p.code.constant(0x1000), bad = p.code.constant(kBad);
  const uint32_t reg = p.code.add({.op = Op::kRegister, .value = 1}), three = p.code.constant(3);
  const uint32_t none = p.code.constant(0);
  using Kind = Output::Kind;
  p.outputs = {
      {.kind = Kind::kValue, .node = reg, .size = 2},
      {.kind = Kind::kString, .node = address, .count = 6},
      {.kind = Kind::kString, .node = address, .count = 5},
      {.kind = Kind::kSequence, .node = address, .length = three, .size = 2, .count = 2},
      {.kind = Kind::kSequence, .node = bad, .length = none, .size = 2, .count = 2},
      {.kind = Kind::kBytes, .node = bad, .count = 3},
      {.kind = Kind::kString, .node = bad, .count = 3},
      {.kind = Kind::kString, .node = none, .count = 3},
  };
  ASSERT_TRUE(verify(p));
  const auto outputs = run(p, machine);
  ASSERT_TRUE(outputs);
  const auto bytes = [](std::string_view s) { return std::vector<uint8_t>(s.begin(), s.end()); };
  EXPECT_THAT(*outputs, testing::ElementsAre(OutputBytes{.bytes = {0x67, 0x45}}, OutputBytes{bytes("hello")},
                                             OutputBytes{.bytes = bytes("hello"), .is_cut = true},
                                             OutputBytes{.bytes = bytes("hell"), .is_cut = true},
                                             OutputBytes{}, OutputBytes{{0, 0, 0}, true, false},
                                             OutputBytes{{}, true, false}, OutputBytes{{}, true, true}));
  p.condition = none;
  EXPECT_FALSE(run(p, machine));
}

TEST(Interpret, random_programs_are_valid_and_use_everything) {
  std::mt19937_64 random(7);
  TestMachine machine;
  const std::vector<uint8_t> some(256, 'a');
  machine.put(0x5000, some.data(), some.size());
  machine.registers[4] = 0x5000;
  machine.entries = {3, std::nullopt};
  const ProgramOptions options{.is_return = true, .entry_values = 2, .addresses = {0x5000, kBad}};
  std::map<Op, int> values, faults;
  for (int i = 0; i < 3000; ++i) {
    const HitProgram program = random_program(random, options);
    const Status valid = verify(program);
    ASSERT_TRUE(valid) << valid.error().message();
    run(program, machine);
    for (uint32_t n = 0; n < program.code.nodes.size(); ++n)
      ++(interpret(program.code, n, machine) ? values : faults)[program.code.nodes[n].op];
  }
  EXPECT_EQ(values.size(), static_cast<size_t>(Op::kEntryValue) + 1);
  EXPECT_GT(faults[Op::kLoad], 100);
  EXPECT_GT(values[Op::kLoad], 1000);
}

TEST(Verify, refuses_what_is_not_valid) {
  const auto refuses = [](std::vector<Node> nodes, const char* message) {
    const Status status = verify(Code{.nodes = std::move(nodes)});
    ASSERT_FALSE(status) << message;
    EXPECT_THAT(status.error().message(), testing::HasSubstr(message));
  };
  refuses({{.op = Op::kNot, .a = 0}}, "does not come earlier");
  refuses({{.op = Op::kRegister, .value = 16}}, "no such register");
  refuses({{}, {.op = Op::kLoad, .width = 3}}, "width");
  refuses({{.op = Op::kVector, .width = 2}}, "width");
  refuses({{}, {.op = Op::kTextEqual}}, "no such text");
  refuses(std::vector<Node>(kMaxNodes + 1), "too many");
  std::vector<Node> deep(1);
  for (uint32_t i = 0; i < kMaxDepth; ++i) deep.push_back({.op = Op::kNot, .a = i});
  refuses(deep, "too deep");
  deep.pop_back();
  EXPECT_TRUE(verify(Code{.nodes = deep}));
  EXPECT_FALSE(verify(HitProgram{.outputs = {{}}}));
  EXPECT_FALSE(verify(HitProgram{.code = {.nodes = {{}}}, .outputs = {{.size = 3}}}));
  EXPECT_FALSE(verify(HitProgram{.code = {.nodes = {{}}}, .condition = 1}));
}

}  // namespace
}  // namespace blip::script
