// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>
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

  // If there are too many rules, further ones are kUnsupported.
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
  struct Hash {
    size_t operator()(const Key& k) const {
      const auto mix = [](uint64_t h, uint64_t value) { return (h ^ value) * 0x9e37'79b9'7f4a'7c15; };
      uint64_t h = mix(static_cast<uint32_t>(std::get<0>(k)), static_cast<uint32_t>(std::get<1>(k)));
      h = mix(h,
              static_cast<uint16_t>(std::get<2>(k)) | uint64_t{static_cast<uint16_t>(std::get<3>(k))} << 16);
      h = mix(h, std::get<4>(k) | std::get<5>(k) << 8 | std::get<6>(k) << 16);
      return h ^ h >> 32;
    }
  };
  std::unordered_map<Key, uint32_t, Hash> numbers_;
};

}  // namespace blip::unwind
