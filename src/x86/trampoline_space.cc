// SPDX-License-Identifier: MIT
#include "x86/trampoline_space.h"

#include <algorithm>

#include "base/page.h"

namespace blip::x86 {

namespace {

constexpr int kUsedPagesTried = 4;

}  // namespace

std::optional<TargetAddr> TrampolineSpace::find_in_page(uint64_t page, AddrRange where) const {
  const TargetAddr begin(page * kPageSize);
  TargetAddr at = std::max(begin, where.begin);
  const TargetAddr last = std::min(begin + kPageSize - kTrampolineSize, where.end - 1);
  const auto used = used_.find(page);
  if (used != used_.end()) {
    for (const uint16_t offset : used->second) {
      const TargetAddr taken = begin + offset;
      if (at + kTrampolineSize <= taken) break;
      at = std::max(at, taken + kTrampolineSize);
    }
  }
  if (at > last) return std::nullopt;
  return at;
}

std::optional<TargetAddr> TrampolineSpace::find_in_used(AddrRange where) const {
  int tries = 0;
  for (auto it = used_.lower_bound(page_number(where.begin));
       it != used_.end() && it->first <= page_number(where.end - 1) && tries < kUsedPagesTried; ++it, ++tries)
    if (const auto at = find_in_page(it->first, where)) return at;
  return std::nullopt;
}

std::optional<TargetAddr> TrampolineSpace::find_in_free(AddrRange where) const {
  auto range = std::upper_bound(free_.begin(), free_.end(), where.begin,
                                [](TargetAddr a, const AddrRange& r) { return a < r.end; });
  for (; range != free_.end() && range->begin < where.end; ++range) {
    // The first page of the overlap, or the next if its last bytes are too few.
    const TargetAddr begin = std::max(range->begin, where.begin);
    for (uint64_t page = page_number(begin); page <= page_number(begin) + 1; ++page) {
      if (TargetAddr(page * kPageSize) >= std::min(range->end, where.end)) break;
      if (const auto at = find_in_page(page, where)) return at;
    }
  }
  return std::nullopt;
}

std::optional<TargetAddr> TrampolineSpace::find(AddrRange where) const {
  if (where.empty()) return std::nullopt;
  if (const auto at = find_in_used(where)) return at;
  if (used_.size() >= max_pages_) return std::nullopt;
  return find_in_free(where);
}

void TrampolineSpace::take(TargetAddr at) {
  std::vector<uint16_t>& offsets = used_[page_number(at)];
  const auto offset = static_cast<uint16_t>(at.value % kPageSize);
  offsets.insert(std::upper_bound(offsets.begin(), offsets.end(), offset), offset);
  ++size_;
}

}  // namespace blip::x86
