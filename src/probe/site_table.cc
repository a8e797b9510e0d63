// SPDX-License-Identifier: MIT
#include "probe/site_table.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"

namespace blip::probe {

void SiteTable::put(const Edit& edit) {
  CHECK(room() != 0);
  while (used_[next_] != TargetAddr()) ++next_;
  abi::SiteEntry& entry = entries_[next_];
  entry.addr = edit.addr.value;
  entry.pad_addr = edit.pad.value;
  entry.order = edit.order;
  entry.length = edit.length;
  entry.window = edit.window;
  std::copy(edit.original.begin(), edit.original.end(), entry.original);
  std::copy(edit.changed.begin(), edit.changed.end(), entry.changed);
  // Only a size makes it an entry.
  std::atomic_ref(entry.size).store(edit.size, std::memory_order_release);
  used_[next_] = edit.addr;
  ++count_;
}

void SiteTable::forget(TargetAddr addr) {
  for (size_t i = 0; i < used_.size(); ++i) {
    if (used_[i] != addr) continue;
    std::atomic_ref(entries_[i].size).store(0, std::memory_order_release);
    used_[i] = TargetAddr();
    next_ = std::min(next_, i);
    --count_;
  }
}

void SiteTable::clear() {
  for (size_t i = 0; i < used_.size(); ++i) {
    entries_[i].size = 0;
    used_[i] = TargetAddr();
  }
  count_ = next_ = 0;
}

}  // namespace blip::probe
