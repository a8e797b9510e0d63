// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "abi/unwind.h"

namespace blip::unwind {

// Gives each different rule a number. The first two are always the same.
class RuleNumbers {
 public:
  static constexpr uint32_t kUnknown = 0, kUnsupported = 1;

  RuleNumbers() {
    of({.base = abi::UnwindRule::kUnknown});
    of({.base = abi::UnwindRule::kUnsupported});
  }

  // Where there are too many, further ones are kUnsupported.
  uint32_t of(const abi::UnwindRule& rule) {
    const Key key{rule.cfa_offset, rule.rbp_offset, rule.cfa_add, rule.rip_offset,
                  rule.base,       rule.rbp,        rule.flags};
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
    if (rules_.size() == abi::kMaxUnwindRules) return kUnsupported;
    rules_.push_back(rule);
    return numbers_[key] = static_cast<uint32_t>(rules_.size() - 1);
  }

  const std::vector<abi::UnwindRule>& rules() const { return rules_; }

 private:
  using Key = std::tuple<int32_t, int32_t, int16_t, int16_t, uint8_t, uint8_t, uint8_t>;
  std::vector<abi::UnwindRule> rules_;
  std::map<Key, uint32_t> numbers_;
};

}  // namespace blip::unwind
