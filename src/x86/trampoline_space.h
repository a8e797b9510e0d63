// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::x86 {

inline constexpr uint64_t kTrampolineSize = 5;  // jmp rel32

// Addresses where trampolines may be put: a punned jump leads where the bytes of other instructions say.
// Counts pages, because each costs the target a mapping.
class TrampolineSpace {
 public:
  TrampolineSpace() = default;
  // `free`: sorted ranges of unmapped whole pages.
  TrampolineSpace(std::vector<AddrRange> free, size_t max_pages)
      : free_(std::move(free)), max_pages_(max_pages) {}

  // A free place whose address is in `where`; one in a page already in use if there is one. No trampoline
  // crosses a page.
  std::optional<TargetAddr> find(AddrRange where) const;
  void take(TargetAddr at);
  size_t pages() const { return used_.size(); }
  size_t size() const { return size_; }

 private:
  std::optional<TargetAddr> find_in_page(uint64_t page, AddrRange where) const;
  std::optional<TargetAddr> find_in_used(AddrRange where) const;
  std::optional<TargetAddr> find_in_free(AddrRange where) const;

  std::vector<AddrRange> free_;
  size_t max_pages_ = 0;
  std::map<uint64_t, std::vector<uint16_t>> used_;  // page number -> offsets in use, sorted
  size_t size_ = 0;
};

}  // namespace blip::x86
