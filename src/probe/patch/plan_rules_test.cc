// SPDX-License-Identifier: MIT
// Plans for thousands of random functions keep every rule, write by write.
#include <gtest/gtest.h>

#include "probe/patch/test_plan_rules.h"
#include "x86/test_bytes.h"
#include "x86/test_random_program.h"

namespace blip::probe {
namespace {

std::vector<uint8_t> random_function(x86::test::RandomCode& code, std::mt19937_64& random) {
  constexpr TargetAddr kSomewhere(0x7f12'3456'7000);
  const std::vector<std::vector<uint8_t>> short_ones{{0x55},
                                                     {0x5d},
                                                     {0x31, 0xc0},
                                                     {0xff, 0xc0},
                                                     {0x48, 0x89, 0xe5},
                                                     {0x74, 0x03},
                                                     {0xeb, 0x02},
                                                     {0xc3, 0x90, 0x90, 0x90},
                                                     {0x0f, 0x05}};
  std::vector<uint8_t> bytes;
  while (bytes.size() < 80 + random() % 100) {
    const auto more = random() % 3 == 0 ? code.next(kSomewhere, {.data = kSomewhere + 0x1000})
                                        : short_ones[random() % short_ones.size()];
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

TEST(PlanRules, random_functions) {
  constexpr int kFunctions = 4000;
  std::mt19937_64 random(x86::test::random_seed());
  x86::test::RandomCode code(random);
  for (int i = 0; i < kFunctions && !HasFailure(); ++i) {
    const std::vector<uint8_t> bytes = random_function(code, random);
    uint8_t how[8];
    for (uint8_t& b : how) b = static_cast<uint8_t>(random());
    EXPECT_EQ(broken_rule(how, bytes), "") << x86::test::text(bytes);
  }
}

// The checker itself must notice.
TEST(PlanRules, a_jump_over_an_entry_is_noticed) {
  const auto text = x86::test::bytes("31 c0 31 c9 31 d2 c3");
  x86::CodeMap map(text, TargetAddr(0x1000));
  const AddrRange function{TargetAddr(0x1000), TargetAddr(0x1007)};
  map.decode({&function, 1}, {&function.begin, 1});
  map.enter(TargetAddr(0x1002));
  map.finish();
  x86::LadderPlan plan;
  plan.rewrites.push_back({.start = TargetAddr(0x1000), .length = 6});
  EXPECT_NE(PlanRules(text, map, plan).broken(), "");
  plan.rewrites[0] = {.start = TargetAddr(0x1000), .length = 2};
  EXPECT_NE(PlanRules(text, map, plan).broken(), "") << "five bytes do not fit";
}

}  // namespace
}  // namespace blip::probe
