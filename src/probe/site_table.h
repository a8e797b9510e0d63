// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/layout.h"
#include "probe/edits.h"

namespace blip::probe {

// The table in the shared memory by which a later blip restores the text, should this one be killed. An entry
// is there before its edit is made, and until it has been taken back.
class SiteTable {
 public:
  SiteTable() = default;
  explicit SiteTable(std::span<abi::SiteEntry> entries) : entries_(entries), used_(entries.size()) {}

  // How many more it can take.
  size_t room() const { return entries_.size() - count_; }
  void put(const Edit& edit);
  // Forgets the edits at an address.
  void forget(TargetAddr addr);
  void clear();

 private:
  std::span<abi::SiteEntry> entries_;
  std::vector<TargetAddr> used_;  // our own memory of the entries' addresses; 0: free
  size_t count_ = 0;
  size_t next_ = 0;  // all before it are used
};

}  // namespace blip::probe
