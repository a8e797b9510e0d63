// SPDX-License-Identifier: MIT
#include "probe/patch/site_table.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"

namespace blip::probe {

void SiteTable::put(const Edit& edit) {
  CHECK(room() != 0);
  abi::SiteEntry& entry = entries_[count_++];
  entry.addr = edit.addr.value;
  entry.pad_addr = edit.pad.value;
  entry.order = edit.order;
  entry.length = edit.length;
  entry.window = edit.window;
  std::copy(edit.original.begin(), edit.original.end(), entry.original);
  std::copy(edit.changed.begin(), edit.changed.end(), entry.changed);
  // Only a size makes it an entry.
  std::atomic_ref(entry.size).store(edit.size, std::memory_order_release);
}

}  // namespace blip::probe
