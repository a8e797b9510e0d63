// SPDX-License-Identifier: MIT
#include "x86/entry_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace blip::x86 {

InteriorSet::InteriorSet(std::span<const Window> windows) : reasons_(windows.size()) {
  for (size_t i = 0; i < windows.size(); ++i) sorted_.push_back({windows[i].start, windows[i].end(), i});
  if (sorted_.empty()) return;
  std::sort(sorted_.begin(), sorted_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  TargetAddr end = sorted_.front().end;
  for (const Interior& w : sorted_) {
    end = std::max(end, w.end);
    longest_ = std::max(longest_, w.end - w.start);
  }
  range_ = {sorted_.front().start, end};
  bits_ = range_.size();
  bitmap_.resize(bits_ / 64 + 1);
  for (const Interior& w : sorted_)
    for (uint64_t bit = w.start - range_.begin + 1; bit < w.end - range_.begin; ++bit)
      bitmap_[bit / 64] |= uint64_t{1} << (bit % 64);
}

// Calls visit for the windows holding `a` in their interior, highest start first, until it returns true.
template <typename Visit>
void InteriorSet::for_each_at(TargetAddr a, Visit visit) const {
  auto at = std::lower_bound(sorted_.begin(), sorted_.end(), a,
                             [](const Interior& w, TargetAddr address) { return w.start < address; });
  while (at != sorted_.begin()) {
    --at;
    if (a - at->start >= longest_) return;
    if (a < at->end && visit(*at)) return;
  }
}

std::optional<size_t> InteriorSet::window_at(TargetAddr a) const {
  std::optional<size_t> found;
  if (!contains(a)) return found;
  for_each_at(a, [&](const Interior& w) {
    found = w.index;
    return true;
  });
  return found;
}

void InteriorSet::hit(TargetAddr target, TargetAddr from, std::string_view what) {
  if (!contains(target)) return;
  for_each_at(target, [&](const Interior& w) {
    bool moves_along = from >= w.start && from < w.end;
    if (!moves_along && reasons_[w.index].empty())
      reasons_[w.index] = fmt::format("{} at {:#x} leads into the replaced bytes", what, from.value);
    return false;
  });
}

void InteriorSet::hit(TargetAddr target, std::string_view what) {
  if (!contains(target)) return;
  for_each_at(target, [&](const Interior& w) {
    if (reasons_[w.index].empty())
      reasons_[w.index] = fmt::format("{} begins inside the replaced bytes", what);
    return false;
  });
}

}  // namespace blip::x86
