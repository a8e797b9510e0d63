// SPDX-License-Identifier: MIT
#include "probe/patch/trampolines.h"

#include <algorithm>
#include <bitset>

#include "abi/layout.h"
#include "base/page.h"

namespace blip::probe {

namespace {

using Bytes = std::bitset<abi::kPageSize>;

// Which bytes of a run's pages are used.
struct UsedRun {
  uint64_t first_page = 0;
  std::vector<Bytes> pages;
};

void use(UsedRun& run, TargetAddr byte) {
  const uint64_t page = page_number(byte);
  if (run.pages.empty()) run.first_page = page;
  run.pages.resize(std::max<size_t>(run.pages.size(), page - run.first_page + 1));
  run.pages[page - run.first_page].set(byte.value % abi::kPageSize);
}

std::vector<UsedRun> used_runs(std::span<const TargetAddr> entries) {
  std::vector<TargetAddr> sorted(entries.begin(), entries.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<UsedRun> runs;
  for (TargetAddr entry : sorted) {
    const bool next =
        !runs.empty() && page_number(entry) <= runs.back().first_page + runs.back().pages.size();
    if (!next) runs.emplace_back();
    for (uint64_t k = 0; k < abi::kJumpSize; ++k) use(runs.back(), entry + k);
  }
  return runs;
}

// The frames, filled one run after the other, each at the first place that suits it.
class Frames {
 public:
  uint64_t place(const UsedRun& run) {
    uint64_t at = 0;
    while (!fits(run, at)) ++at;
    used_.resize(std::max<size_t>(used_.size(), at + run.pages.size()));
    for (size_t k = 0; k < run.pages.size(); ++k) used_[at + k] |= run.pages[k];
    return at;
  }
  uint64_t size() const { return used_.size(); }

 private:
  bool fits(const UsedRun& run, uint64_t at) const {
    for (size_t k = 0; k < run.pages.size() && at + k < used_.size(); ++k)
      if ((used_[at + k] & run.pages[k]).any()) return false;
    return true;
  }

  std::vector<Bytes> used_;
};

}  // namespace

std::optional<uint64_t> TrampolineLayout::offset_of(TargetAddr entry) const {
  auto it = std::upper_bound(runs.begin(), runs.end(), entry,
                             [](TargetAddr a, const TrampolineRun& r) { return a < r.pages.begin; });
  if (it == runs.begin() || !(--it)->pages.contains(entry)) return std::nullopt;
  return it->frame * abi::kPageSize + (entry - it->pages.begin);
}

TrampolineLayout pack_trampolines(std::span<const TargetAddr> entries, size_t max_runs) {
  std::vector<UsedRun> runs = used_runs(entries);
  if (runs.size() > max_runs) runs.resize(max_runs);
  TrampolineLayout layout;
  Frames frames;
  for (const UsedRun& run : runs) {
    const TargetAddr begin(run.first_page * abi::kPageSize);
    layout.runs.push_back({{begin, begin + run.pages.size() * abi::kPageSize}, frames.place(run)});
  }
  layout.frames = frames.size();
  return layout;
}

}  // namespace blip::probe
