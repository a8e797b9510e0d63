// SPDX-License-Identifier: MIT
#include "script/convention/mark_operands.h"

#include <gtest/gtest.h>

#include "script/ir/test_programs.h"
#include "script/test_place.h"
#include "script/types/type.h"

namespace blip::script {
namespace {

constexpr uint64_t kStack = 0x7000, kData = 0x4000, kThread = 0x9000;

TestMachine machine() {
  TestMachine m;
  for (unsigned i = 0; i < m.registers.size(); ++i) m.registers[i] = 0xf0e1d2c3b4a59680 + i * 0x1111;
  m.registers[4] = kStack;       // rsp
  m.registers[5] = kStack + 64;  // rbp
  m.registers[3] = 3;            // rbx
  m.registers[12] = kData;       // r12
  m.fs = kThread;
  m.vectors[2] = {0x400921fb54442d18, 0};  // pi
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + 200);
  for (const uint64_t at : {kStack - 32, kData, kThread - 64}) m.put(at, bytes.data(), bytes.size());
  return m;
}

uint64_t memory_at(uint64_t address, size_t size) {
  uint64_t value = 0;
  EXPECT_TRUE(machine().read(address, &value, size));
  return value;
}

std::optional<uint64_t> known(std::string_view name) {
  if (name == "counter") return kData + 32;
  if (name == ".LCPI0_0") return kData + 40;
  return std::nullopt;
}

std::optional<uint64_t> known_of_threads(std::string_view name) {
  if (name == "mine") return -uint64_t{16};
  return std::nullopt;
}

Variable only(std::string_view operand) {
  const auto all = mark_arguments(operand, {known, known_of_threads});
  EXPECT_EQ(all.size(), 1u) << operand;
  return all.at(0);
}

std::optional<uint64_t> value_of(const Variable& v) {
  const auto bytes = bytes_at(v.place, v.type->size, machine());
  if (!bytes) return std::nullopt;
  uint64_t value = 0;
  std::memcpy(&value, bytes->data(), bytes->size());
  return value;
}

struct Row {
  const char* operand;
  const char* type;
  uint64_t value;  // its bytes
};

class Operand : public testing::TestWithParam<Row> {};

TEST_P(Operand, is_the_value_that_the_machine_has) {
  const Variable v = only(GetParam().operand);
  EXPECT_EQ(v.name, "arg1");
  EXPECT_EQ(to_string(*v.type), GetParam().type);
  const auto value = value_of(v);
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, GetParam().value) << std::hex << *value;
}

const Row kRows[] = {
    {"8@%rax", "unsigned long", 0xf0e1d2c3b4a59680},
    {"-8@%rcx", "long", 0xf0e1d2c3b4a5a791},
    {"-4@%edi", "int", 0xb4a60df7},
    {"4@%r8d", "unsigned int", 0xb4a61f08},
    {"2@%r9w", "unsigned short", 0x3019},
    {"-2@%ax", "short", 0x9680},
    {"1@%al", "uint8_t", 0x80},
    {"-1@%ah", "int8_t", 0x96},
    {"1@%sil", "uint8_t", 0xe6},
    {"1@%r10b", "uint8_t", 0x2a},
    {"1@%eax", "uint8_t", 0x80},
    {"-8@%eax", "long", 0xffffffffb4a59680},
    {"8@%eax", "unsigned long", 0xb4a59680},
    {"%ah", "uint8_t", 0x96},
    {"%rax", "unsigned long", 0xf0e1d2c3b4a59680},
    {"8f@%xmm2", "double", 0x400921fb54442d18},
    {"4f@%xmm2", "float", 0x54442d18},
    {"8f@%rax", "double", 0xf0e1d2c3b4a59680},
    {"4@$7", "unsigned int", 7},
    {"-4@$-7", "int", 0xfffffff9},
    {"8@$-1", "unsigned long", UINT64_MAX},
    {"1@$200", "uint8_t", 200},
    {"8@$0x1f", "unsigned long", 31},
    {"8@$017", "unsigned long", 15},
    {"8@$18446744073709551615", "unsigned long", UINT64_MAX},
    {"8@$-9223372036854775808", "unsigned long", uint64_t{1} << 63},
    {"8@$counter+4", "unsigned long", kData + 36},
    {"4@12", "unsigned int", 12},
    {"8@(%rsp)", "unsigned long", memory_at(kStack, 8)},
    {"-4@-20(%rbp)", "int", memory_at(kStack + 44, 4)},
    {"1@0x8(%rsp)", "uint8_t", memory_at(kStack + 8, 1)},
    {"8@8(%r12,%rbx,4)", "unsigned long", memory_at(kData + 20, 8)},
    {"4@(%r12,%rbx)", "unsigned int", memory_at(kData + 3, 4)},
    {"2@counter(,%rbx,8)", "unsigned short", memory_at(kData + 56, 2)},
    {"2@-4(%r12,%rbx,2)", "unsigned short", memory_at(kData + 2, 2)},
    {"8@counter(%rip)", "unsigned long", memory_at(kData + 32, 8)},
    {"8@8+counter(%rip)", "unsigned long", memory_at(kData + 40, 8)},
    {"8@counter-8(%rip)", "unsigned long", memory_at(kData + 24, 8)},
    {"8@(counter+4)-4(%rip)", "unsigned long", memory_at(kData + 32, 8)},
    {"8f@.LCPI0_0(%rip)", "double", memory_at(kData + 40, 8)},
    {"4@counter", "unsigned int", memory_at(kData + 32, 4)},
    {"-12+3+1(%rbp)", "unsigned long", memory_at(kStack + 56, 8)},
    {"4@%fs:mine@tpoff", "unsigned int", memory_at(kThread - 16, 4)},
    {"4@%fs:mine@tpoff+4", "unsigned int", memory_at(kThread - 12, 4)},
    {"8@%fs:8", "unsigned long", memory_at(kThread + 8, 8)},
    {"8@%fs:-16(%rbx)", "unsigned long", memory_at(kThread - 13, 8)},
};
INSTANTIATE_TEST_SUITE_P(Operands, Operand, testing::ValuesIn(kRows));

TEST(MarkOperands, what_is_not_understood_says_so_and_counts) {
  for (const char* operand : {"4@",
                              "4@%",
                              "4@%rip",
                              "4@%eflags",
                              "4@%st",
                              "4@%gs:8",
                              "4@8(%rip)",
                              "4@8(%al)",
                              "4@(%rsp,%rax,3)",
                              "4@(%rsp",
                              "4@(%rsp)x",
                              "4@$",
                              "4@$09",
                              "4@$0x",
                              "4@$99999999999999999999",
                              "4@counter-counter(%rip)",
                              "4@-counter(%rip)",
                              "4@%fs:counter",
                              "4@mine@tpoff(%rip)",
                              "4@counter@GOTPCREL(%rip)",
                              "16@%rax",
                              "3@%eax",
                              "10f@(%rsp)",
                              "2f@%ax",
                              "4@$1+",
                              "4@$((((((((((((((((((((((((((((((((((((((((1"}) {
    const Variable v = only(operand);
    EXPECT_EQ(v.place.kind, Place::Kind::kOptimizedOut) << operand;
  }
  EXPECT_EQ(only("4@nobody(%rip)").place.why, Unknown::kSymbol);
  EXPECT_EQ(only("4@%fs:counter@tpoff").place.why, Unknown::kSymbol);
  EXPECT_EQ(only("4@%gs:8").place.why, Unknown::kOperand);
}

TEST(MarkOperands, are_separated_by_blanks) {
  const auto all = mark_arguments("  8@%rax   -4@$1\t1@nobody(%rip) 2@%cx ", {});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[3].name, "arg4");
  EXPECT_EQ(value_of(all[3]), 0xa791u);
  EXPECT_TRUE(mark_arguments("", {}).empty());
  EXPECT_TRUE(mark_arguments("   ", {}).empty());
}

// What gcc -masm=intel leaves has blanks inside.
TEST(MarkOperands, of_intel_syntax_count_as_one) {
  const auto texts = mark_operand_texts("-4@DWORD PTR [rbp-4] 8@QWORD PTR [rsp+8] 4@$1");
  EXPECT_EQ(texts, (std::vector<std::string>{"-4@DWORD PTR [rbp-4]", "8@QWORD PTR [rsp+8]", "4@$1"}));
}

TEST(MarkOperands, long_ones_take_no_stack) {
  EXPECT_EQ(mark_arguments("4@$" + std::string(100000, '-'), {}).size(), 1u);
  EXPECT_EQ(mark_arguments("4@" + std::string(100000, '('), {}).size(), 1u);
  EXPECT_EQ(mark_arguments(std::string(100000, '('), {}).size(), 1u);
}

}  // namespace
}  // namespace blip::script
