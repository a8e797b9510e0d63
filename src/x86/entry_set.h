// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/addr.h"
#include "x86/window.h"

namespace blip::x86 {

// The proof that nothing enters a window but by its first byte, for all windows of one module at once: give
// it every address that code may arrive at (scan_branches, symbols, landing pads, jump tables); what was
// never hit is proven. Interior bytes are start+1 .. end()-1. Windows should not overlap; an address inside
// several counts for each.
class InteriorSet {
 public:
  // Windows of this module that need proof, in any order; they are known by their index here.
  explicit InteriorSet(std::span<const Window> windows);

  // A window whose interior holds this address.
  std::optional<size_t> window_at(TargetAddr a) const;
  // Whether there is one: a look at one bit.
  bool contains(TargetAddr a) const {
    uint64_t bit = a.value - range_.begin.value;
    return bit < bits_ && (bitmap_[bit / 64] >> (bit % 64) & 1);
  }

  // `what` at `from` leads to target: "a branch at 0x401000 leads into the replaced bytes". Ignored when
  // target is no interior byte, and when `from` is in the same window (then it moves along). The first reason
  // of a window stays.
  void hit(TargetAddr target, TargetAddr from, std::string_view what);
  // Something begins at target: "a landing pad begins inside the replaced bytes".
  void hit(TargetAddr target, std::string_view what);

  bool refused(size_t window) const { return !reasons_[window].empty(); }
  // Empty: not refused.
  const std::string& reason(size_t window) const { return reasons_[window]; }
  size_t size() const { return reasons_.size(); }

  // The windows as given, in order of address, and the smallest range holding all interior bytes.
  struct Interior {
    TargetAddr start;
    TargetAddr end;
    size_t index;
  };
  std::span<const Interior> sorted() const { return sorted_; }
  AddrRange range() const { return range_; }

 private:
  template <typename Visit>
  void for_each_at(TargetAddr a, Visit visit) const;

  std::vector<Interior> sorted_;
  AddrRange range_;
  uint64_t bits_ = 0;
  uint64_t longest_ = 0;
  std::vector<uint64_t> bitmap_;
  std::vector<std::string> reasons_;
};

}  // namespace blip::x86
