// SPDX-License-Identifier: MIT
#include "probe/arm/mark_semaphores.h"

#include <algorithm>

namespace blip::probe {

void MarkSemaphores::forget(AddrRange library, const void* file) {
  const auto begin = std::lower_bound(wanted_.begin(), wanted_.end(), library.begin);
  const auto end = std::lower_bound(begin, wanted_.end(), library.end);
  if (begin == end) return;
  std::erase_if(gone_, [&](const Gone& g) { return g.library == library && g.file == file; });
  gone_.push_back({library, file, {begin, end}});
  wanted_.erase(begin, end);
}

void MarkSemaphores::revive(AddrRange library, const void* file) {
  const auto it = std::find_if(gone_.begin(), gone_.end(),
                               [&](const Gone& g) { return g.library == library && g.file == file; });
  if (it == gone_.end()) return;
  wanted_.insert(wanted_.end(), it->semaphores.begin(), it->semaphores.end());
  std::sort(wanted_.begin(), wanted_.end());
  gone_.erase(it);
}

Result<size_t> MarkSemaphores::raise(Semaphores semaphores, std::span<const proc::Map> maps) const {
  if (wanted_.empty()) return size_t{0};
  return semaphores.raise(wanted_, maps);
}

}  // namespace blip::probe
