// SPDX-License-Identifier: MIT
#include "dwarf/units/choice.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "script/ir/test_programs.h"
#include "script/ir/verify.h"

namespace blip::dwarf {
namespace {

using script::Code;
using script::Op;

constexpr uint64_t kKeyRegister = 1;

Code key() {
  Code code;
  code.add({.op = Op::kRegister, .value = kKeyRegister});
  return code;
}

// A number, a register, a sum, a difference of two registers.
Code some_code(std::mt19937_64& random) {
  Code code;
  const auto reg = [&] { return code.add({.op = Op::kRegister, .value = 2 + random() % 4}); };
  switch (random() % 4) {
    case 0:
      code.constant(random() % 3);
      break;
    case 1:
      reg();
      break;
    case 2: {
      const uint32_t a = reg(), b = code.constant(random() % 100);
      code.add({.op = Op::kAdd, .a = a, .b = b});
      break;
    }
    default: {
      const uint32_t a = reg(), b = reg();
      code.add({.op = Op::kSub, .a = a, .b = b});
    }
  }
  return code;
}

std::optional<uint64_t> result(const Code& code, const script::Machine& machine) {
  return script::interpret(code, static_cast<uint32_t>(code.nodes.size() - 1), machine);
}

TEST(Choice, gives_what_the_key_stands_for_and_else_a_fault) {
  std::mt19937_64 random(3);
  script::TestMachine machine;
  for (uint64_t& reg : machine.registers) reg = random();
  for (int round = 0; round < 300; ++round) {
    std::map<uint64_t, Code> cases;
    for (uint64_t i = 1 + random() % 12; i > 0; --i) cases[random() % 40] = some_code(random);
    const auto chosen = choose(key(), {cases.begin(), cases.end()});
    ASSERT_TRUE(chosen);
    ASSERT_TRUE(script::verify(*chosen)) << script::verify(*chosen).error().message();
    for (uint64_t k = 0; k < 41; ++k) {
      machine.registers[kKeyRegister] = k;
      const auto expected = cases.count(k) ? result(cases[k], machine) : std::nullopt;
      EXPECT_EQ(result(*chosen, machine), expected) << "key " << k << " of " << cases.size();
    }
  }
}

TEST(Choice, many_callers_with_constants_of_their_own_are_one_table) {
  std::vector<std::pair<uint64_t, Code>> cases;
  for (uint64_t i = 0; i < 500; ++i) {
    Code code;
    code.constant(i * i);
    cases.emplace_back(i * 16, code);
  }
  const auto chosen = choose(key(), cases);
  ASSERT_TRUE(chosen);
  EXPECT_LE(chosen->nodes.size(), 4u);
  script::TestMachine machine;
  machine.registers[kKeyRegister] = 321 * 16;
  EXPECT_EQ(result(*chosen, machine), 321u * 321);
  machine.registers[kKeyRegister] += 1;
  EXPECT_EQ(result(*chosen, machine), std::nullopt);
}

TEST(Choice, of_nothing_is_nothing) { EXPECT_FALSE(choose(key(), {})); }

}  // namespace
}  // namespace blip::dwarf
