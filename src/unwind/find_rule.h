// SPDX-License-Identifier: MIT
// Runs inside the target: freestanding, no data, no calls out.
#pragma once

#include "abi/unwind.h"

namespace blip::unwind {

// Finds the rule for an address. Callers follow each other in one module mostly: the last one is tried first.
class RuleFinder {
 public:
  explicit RuleFinder(const uint8_t* header) : base_(header) {
    const auto* h = reinterpret_cast<const abi::UnwindHeader*>(header);
    const auto* list = at<abi::UnwindList>(__atomic_load_n(&h->list_offset, __ATOMIC_ACQUIRE));
    count_ = list->count;
    modules_ = module_ = reinterpret_cast<const abi::UnwindModule*>(list + 1);
  }

  // nullptr: the address is in no module.
  const abi::UnwindRule* find(uint64_t address) {
    if (count_ == 0) return nullptr;
    if (address - module_->begin >= module_->end - module_->begin) {
      module_ = last_before(modules_, count_, address);
      if (address - module_->begin >= module_->end - module_->begin) return nullptr;
    }
    return rule_in(*module_, static_cast<uint32_t>(address - module_->begin));
  }

 private:
  template <typename T>
  const T* at(uint32_t offset) const {
    return reinterpret_cast<const T*>(base_ + offset);
  }

  // The last module that begins at the address or before; the first, if none does. Searches without branches:
  // nobody could predict them.
  static const abi::UnwindModule* last_before(const abi::UnwindModule* first, uint32_t count,
                                              uint64_t address) {
    while (count > 1) {
      const uint32_t half = count / 2;
      first = first[half].begin <= address ? first + half : first;
      count -= half;
    }
    return first;
  }

  const abi::UnwindRule* rule_in(const abi::UnwindModule& module, uint32_t offset) const {
    const uint32_t* index = at<uint32_t>(module.index_offset) + (offset >> abi::kUnwindBlockShift);
    const uint32_t* row = at<uint32_t>(module.rows_offset) + index[0];
    const uint32_t in_block = offset & (abi::kUnwindBlock - 1);
    const auto block = static_cast<uint16_t>(offset - in_block);
    for (uint32_t count = index[1] - index[0] + 1; count > 1;) {
      const uint32_t half = count / 2;
      const auto begin = static_cast<uint16_t>(row[half] - block);
      row = begin <= in_block ? row + half : row;
      count -= half;
    }
    return at<abi::UnwindRule>(module.rules_offset) + (*row >> abi::kUnwindRuleShift);
  }

  const uint8_t* base_;
  const abi::UnwindModule* modules_;
  const abi::UnwindModule* module_;
  uint32_t count_;
};

}  // namespace blip::unwind
