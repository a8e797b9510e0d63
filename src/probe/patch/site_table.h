// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "abi/layout.h"
#include "probe/patch/edits.h"

namespace blip::probe {

// The table in the shared memory by which a later blip restores the text, should this one be killed. An entry
// is there before its edit is made, and stays: a child of a fork may have a copy of the text as it was.
class SiteTable {
 public:
  SiteTable() = default;
  explicit SiteTable(std::span<abi::SiteEntry> entries) : entries_(entries) {}

  // How many more it can take.
  size_t room() const { return entries_.size() - count_; }
  void put(const Edit& edit);

 private:
  std::span<abi::SiteEntry> entries_;
  size_t count_ = 0;
};

}  // namespace blip::probe
