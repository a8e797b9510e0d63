// SPDX-License-Identifier: MIT
// Runs inside the target: freestanding, no data, no calls out.
#pragma once

#include "abi/unwind.h"

namespace blip::unwind {

// Finds the rule for an address.
class RuleFinder {
 public:
  explicit RuleFinder(const uint8_t* header) : base_(header) {
    const auto* h = reinterpret_cast<const abi::UnwindHeader*>(header);
    list_ =
        reinterpret_cast<const abi::UnwindList*>(base_ + __atomic_load_n(&h->list_offset, __ATOMIC_ACQUIRE));
    cache_ = reinterpret_cast<uint64_t*>(h->cache_addr);
    rules_ = reinterpret_cast<const abi::UnwindRule*>(h + 1);
  }

  // nullptr: the address is in no module.
  const abi::UnwindRule* find(uint64_t address) const {
    if (cache_ == nullptr) return search(address, nullptr);
    uint64_t* cached = cache_ + abi::cached_rule_index(address);
    const uint64_t entry = __atomic_load_n(cached, __ATOMIC_RELAXED);
    const uint64_t number = entry ^ abi::cached_rule_key(address, list_->generation);
    return number < abi::kMaxUnwindRules ? rules_ + number : search(address, cached);
  }

 private:
  __attribute__((noinline)) const abi::UnwindRule* search(uint64_t address, uint64_t* cached) const {
    if (list_->count == 0) return nullptr;
    const abi::UnwindModule& module = last_before(address);
    if (address - module.begin >= module.end - module.begin) return nullptr;
    const uint32_t number = rule_in(module, static_cast<uint32_t>(address - module.begin));
    if (cached != nullptr)
      __atomic_store_n(cached, abi::cached_rule_key(address, list_->generation) | number, __ATOMIC_RELAXED);
    return rules_ + number;
  }

  // The last module that begins at the address or before; the first, if none does. Searches without branches:
  // nobody could predict them.
  const abi::UnwindModule& last_before(uint64_t address) const {
    const auto* first = reinterpret_cast<const abi::UnwindModule*>(list_ + 1);
    for (uint32_t count = list_->count; count > 1;) {
      const uint32_t half = count / 2;
      first = first[half].begin <= address ? first + half : first;
      count -= half;
    }
    return *first;
  }

  uint32_t rule_in(const abi::UnwindModule& module, uint32_t offset) const {
    const auto* index = reinterpret_cast<const uint32_t*>(base_ + module.index_offset);
    const auto* row = reinterpret_cast<const uint32_t*>(base_ + module.rows_offset);
    index += offset >> abi::kUnwindBlockShift;
    row += index[0];
    const uint32_t in_block = offset & (abi::kUnwindBlock - 1);
    const auto block = static_cast<uint16_t>(offset - in_block);
    for (uint32_t count = index[1] - index[0] + 1; count > 1;) {
      const uint32_t half = count / 2;
      const auto begin = static_cast<uint16_t>(row[half] - block);
      row = begin <= in_block ? row + half : row;
      count -= half;
    }
    return *row >> abi::kUnwindRuleShift;
  }

  const uint8_t* base_;
  const abi::UnwindList* list_;
  const abi::UnwindRule* rules_;
  uint64_t* cache_;
};

}  // namespace blip::unwind
