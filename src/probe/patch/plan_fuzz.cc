// SPDX-License-Identifier: MIT
// Any bytes as code: the plan keeps every rule, write by write. The first eight bytes choose what is asked
// for.
#include "base/check.h"
#include "probe/patch/test_plan_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChoices = 8, kMost = 400;
  if (size <= kChoices || size > kMost) return 0;
  const std::string broken = blip::probe::broken_rule({data, kChoices}, {data + kChoices, size - kChoices});
  if (!broken.empty()) fmt::print(stderr, "{}\n", broken);
  CHECK(broken.empty());
  return 0;
}
