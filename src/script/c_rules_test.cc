// SPDX-License-Identifier: MIT
// Expressions at random have the value, the size and the sign that a C compiler gives them.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "script/ir/interpret.h"
#include "script/ir/narrow.h"
#include "script/test_compile.h"
#include "script/test_scope.h"

namespace blip::script {
namespace {

constexpr uint64_t kMemory = 0x50000;

// The program's variables, for both sides.
struct Numbers {
  signed char c = -7;
  unsigned char uc = 250;
  short s = -300;
  unsigned short us = 65000;
  int i = -123456;
  unsigned u = 4000000000U;
  long l = -5000000000L;
  unsigned long ul = 18000000000000000000UL;
  struct Fields {
    unsigned a : 3;
    int b : 5;
    unsigned c : 31;
    unsigned d : 32;
    unsigned short e : 9;
  } bf{6, -9, 0x7ffffff0, 0xfffffff0, 500};
  float f = 0.1F;
  float g = 16777216.0F;  // the next integer is none of the floats
  double d = 0.1;
};

constexpr const char* kDeclarations = R"(#include <stdio.h>
#include <stdbool.h>
signed char c = -7; unsigned char uc = 250; short s = -300; unsigned short us = 65000; int i = -123456;
unsigned u = 4000000000U; long l = -5000000000L; unsigned long ul = 18000000000000000000UL;
struct { unsigned a : 3; int b : 5; unsigned c : 31; unsigned d : 32; unsigned short e : 9; } bf =
  {6, -9, 0x7ffffff0, 0xfffffff0, 500};
float f = 0.1F, g = 16777216.0F; double d = 0.1;
#define SHOW(x) printf("%lld %d %d\n", (long long)(x), (int)sizeof(x), (__typeof__(x))-1 < 0)
int main(void) {
)";

class Program {
 public:
  Program() {
    const Numbers numbers;
    machine.put(kMemory, &numbers, sizeof numbers);
    add("c", "signed char", offsetof(Numbers, c));
    add("uc", "unsigned char", offsetof(Numbers, uc));
    add("s", "short", offsetof(Numbers, s));
    add("us", "unsigned short", offsetof(Numbers, us));
    add("i", "int", offsetof(Numbers, i));
    add("u", "unsigned int", offsetof(Numbers, u));
    add("l", "long", offsetof(Numbers, l));
    add("ul", "unsigned long", offsetof(Numbers, ul));
    add("f", "float", offsetof(Numbers, f));
    add("g", "float", offsetof(Numbers, g));
    add("d", "double", offsetof(Numbers, d));
    const Type &unsigned_int = builtin("unsigned int"), &signed_int = builtin("int");
    const Type& fields =
        types.structure("", sizeof(Numbers::Fields),
                        {{.name = "a", .type = &unsigned_int, .bit_offset = 0, .bit_size = 3},
                         {.name = "b", .type = &signed_int, .bit_offset = 3, .bit_size = 5},
                         {.name = "c", .type = &unsigned_int, .offset = 4, .bit_size = 31},
                         {.name = "d", .type = &unsigned_int, .offset = 8, .bit_size = 32},
                         {.name = "e", .type = &builtin("unsigned short"), .offset = 12, .bit_size = 9}});
    scope.in_memory("bf", fields, kMemory + offsetof(Numbers, bf));
  }

  // "VALUE SIZE IS_SIGNED" as the compiled program prints it; empty: blip has no such expression.
  std::string shown(const std::string& text) {
    const HitScopes site{.scope = &scope};
    const auto captured = compile_capture(text, site, {});
    if (!captured || captured->program.outputs.size() != 1) return "";
    const auto outputs = run(captured->program, machine);
    if (!outputs || outputs->front().is_fault) return "a fault";
    uint64_t raw = 0;
    const auto& bytes = outputs->front().bytes;
    for (size_t i = 0; i < bytes.size() && i < 8; ++i) raw |= uint64_t{bytes[i]} << 8 * i;
    const Field& field = captured->fields[0];
    const auto value = compute(
        {.op = Op::kExtend, .width = static_cast<uint8_t>(bytes.size()), .is_signed = field.is_signed}, raw,
        0);
    return fmt::format("{} {} {}", static_cast<int64_t>(*value), field.size, field.is_signed ? 1 : 0);
  }

  TestTypes types;
  TestScope scope;
  TestMachine machine;

 private:
  void add(const char* name, const char* type, uint64_t offset) {
    scope.in_memory(name, builtin(type), kMemory + offset);
  }
};

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  // A random expression of integers. It divides and shifts only by values for which C defines the result.
  std::string integer(int depth) {
    if (depth == 0) return pick(kAtoms);
    switch (random_() % 10) {
      case 0:
        return fmt::format("({}{})", pick(kUnary), integer(depth - 1));
      case 1:
        return fmt::format("({}){}", pick(kCasts), integer(depth - 1));
      case 2:
        return fmt::format("({} {} {})", integer(depth - 1), pick(kDivisions), 1 + random_() % 9);
      case 3:
        return fmt::format("({} {} {})", integer(depth - 1), random_() % 2 ? "<<" : ">>", random_() % 15);
      case 4:
        return fmt::format("({} ? {} : {})", truth(depth - 1), integer(depth - 1), integer(depth - 1));
      case 5:
        return truth(depth - 1);
      default:
        return fmt::format("({} {} {})", integer(depth - 1), pick(kBinary), integer(depth - 1));
    }
  }

 private:
  using Words = std::vector<std::string_view>;
  inline static const Words kAtoms = {"c",  "uc",   "s",    "us",         "i",          "u",          "l",
                                      "ul", "bf.a", "bf.b", "bf.c",       "bf.d",       "bf.e",       "1",
                                      "7",  "1u",   "2l",   "0x80000000", "4294967295", "2147483647", "3ul"};
  inline static const Words kUnary = {"-", "~", "!", "+"};
  inline static const Words kCasts = {"signed char", "unsigned char", "short", "unsigned short",
                                      "int",         "unsigned int",  "long",  "unsigned long"};
  inline static const Words kDivisions = {"/", "%"};
  inline static const Words kBinary = {"+", "-", "*", "&", "|", "^"};
  inline static const Words kOrder = {"<", "<=", ">", ">=", "==", "!="};
  inline static const Words kReals = {"f",
                                      "g",
                                      "d",
                                      "(float)d",
                                      "(double)f",
                                      "(double)g",
                                      "0.1",
                                      "1.5",
                                      "(float)0.1",
                                      "(float)16777217",
                                      "(float)9007199791611905",
                                      "(double)9007199254740993",
                                      "16777217.0"};
  inline static const Words kWhole = {
      "0",          "1",           "16777216",         "16777217",         "-16777217",
      "2147483647", "4294967295u", "9007199791611905", "9007199254740993", "18446744073709551615ul"};

  std::string pick(const Words& words) { return std::string(words[random_() % words.size()]); }

  // Two numbers of which one at least is no integer.
  std::string order_of_reals() {
    std::string left = real(), right = random_() % 2 ? real() : pick(kWhole);
    if (random_() % 2) std::swap(left, right);
    return fmt::format("({} {} {})", left, pick(kOrder), right);
  }

  std::string real() {
    if (random_() % 4) return pick(kReals);
    return fmt::format("({} ? {} : {})", pick(kAtoms), pick(kReals),
                       random_() % 2 ? pick(kReals) : pick(kWhole));
  }

  std::string truth(int depth) {
    switch (random_() % 5) {
      case 0:
        return order_of_reals();
      case 1:
        return fmt::format("({} {} {})", integer(std::max(depth - 1, 0)), random_() % 2 ? "&&" : "||",
                           integer(std::max(depth - 1, 0)));
      default:
        return fmt::format("({} {} {})", integer(std::max(depth - 1, 0)), pick(kOrder),
                           integer(std::max(depth - 1, 0)));
    }
  }

  std::mt19937_64 random_;
};

// The values that a C compiler computes, one per expression. Empty if this machine has no compiler.
std::vector<std::string> compiled(const std::vector<std::string>& expressions) {
  std::string directory = (std::filesystem::temp_directory_path() / "blip.rules.XXXXXX").string();
  if (!::mkdtemp(directory.data())) return {};
  std::ofstream source(directory + "/rules.c");
  source << kDeclarations;
  for (const std::string& e : expressions) source << "SHOW(" << e << ");\n";
  source << "return 0; }\n";
  source.close();
  const std::string line =
      fmt::format("gcc -w -fwrapv -o {0}/rules {0}/rules.c 2>{0}/errors && {0}/rules > {0}/out", directory);
  std::vector<std::string> lines;
  if (std::system(line.c_str()) == 0) {
    std::ifstream out(directory + "/out");
    for (std::string text; std::getline(out, text);) lines.push_back(text);
  }
  std::filesystem::remove_all(directory);
  return lines;
}

TEST(CRules, random_expressions_are_what_a_compiler_makes_of_them) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  RecordProperty("seed", std::to_string(seed));
  Writer writer(seed);
  Program program;
  std::vector<std::string> expressions, ours;
  while (expressions.size() < 2000) {
    std::string text = writer.integer(1 + static_cast<int>(expressions.size() % 3));
    std::string value = program.shown(text);
    if (value.empty()) continue;
    expressions.push_back(std::move(text));
    ours.push_back(std::move(value));
  }
  const auto theirs = compiled(expressions);
  if (theirs.empty()) GTEST_SKIP() << "there is no C compiler that can make a program here";
  ASSERT_EQ(theirs.size(), ours.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i], theirs[i]) << expressions[i];
}

TEST(CRules, bit_fields_narrower_than_int_are_ints) {
  Program program;
  EXPECT_EQ(program.shown("bf.a - 7"), "-1 4 1");
  EXPECT_EQ(program.shown("bf.a - 7 < 0"), "1 4 1");
  EXPECT_EQ(program.shown("bf.d - 1 > 0"), "1 4 1");
  EXPECT_EQ(program.shown("(float)d == f"), "1 4 1");
  EXPECT_EQ(program.shown("d == f"), "0 4 1");
}

TEST(CRules, integers_become_floats_where_they_meet_one) {
  Program program;
  EXPECT_EQ(program.shown("g == 16777217"), "1 4 1");
  EXPECT_EQ(program.shown("g < 16777217"), "0 4 1");
  EXPECT_EQ(program.shown("g == 16777217.0"), "0 4 1");
  EXPECT_EQ(program.shown("(i ? 16777217 : f) == g"), "1 4 1");
  EXPECT_EQ(program.shown("sizeof(i ? f : 1)"), "4 8 0");
}

TEST(CRules, times_and_sizes_are_long) {
  Program program;
  EXPECT_EQ(program.shown("10s * 10 == 100000000000"), "1 4 1");
  EXPECT_EQ(program.shown("2M * 2k"), "4294967296 8 1");
}

TEST(CRules, doubles_become_the_nearest_float) {
  std::mt19937_64 random(7);
  std::vector<double> values = {
      0.0,   -0.0,      1.0,        0.1,        1e300,         -1e300,       FLT_MAX, 3.4028235677973366e38,
      1e-45, 7e-46,     1.4e-45,    2.1e-45,    1e-310,        1e-40,        FLT_MIN, INFINITY,
      NAN,   -INFINITY, 16777217.0, 16777219.0, 1.1754943e-38, 1.1754942e-38};
  for (int i = 0; i < 20000; ++i) {
    values.push_back(std::bit_cast<double>(random()));
    values.push_back(std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 300) - 210));
  }
  Builder builder;
  const uint32_t reg = builder.add({.op = Op::kRegister, .value = 0});
  const uint32_t node = narrow(builder, reg);
  TestMachine machine;
  for (const double value : values) {
    machine.registers[0] = std::bit_cast<uint64_t>(value);
    const auto bits = interpret(builder.code(), node, machine);
    ASSERT_TRUE(bits);
    const auto ours = std::bit_cast<float>(static_cast<uint32_t>(*bits));
    const auto theirs = static_cast<float>(value);
    if (std::isnan(theirs))
      EXPECT_TRUE(std::isnan(ours));
    else
      EXPECT_EQ(std::bit_cast<uint32_t>(ours), std::bit_cast<uint32_t>(theirs)) << value;
  }
}

}  // namespace
}  // namespace blip::script
