// SPDX-License-Identifier: MIT
#include "probe/text.h"

#include <algorithm>

namespace blip::probe {

namespace {

// Patches of one page, [first, last), and the bytes from the first to the end of the last.
struct PageRun {
  size_t first = 0;
  size_t last = 0;
  std::vector<uint8_t> bytes;
  bool mapped = true;
};

std::vector<PageRun> split_by_page(std::span<const Patch> patches) {
  std::vector<PageRun> runs;
  uint64_t page = UINT64_MAX;
  for (size_t i = 0; i < patches.size(); ++i) {
    const uint64_t this_page = patches[i].addr.value / abi::kPageSize;
    if (this_page != page) runs.push_back({.first = i});
    page = this_page;
    runs.back().last = i + 1;
  }
  for (PageRun& run : runs)
    run.bytes.resize(patches[run.last - 1].addr - patches[run.first].addr + abi::kJumpSize);
  return runs;
}

void read_runs(const proc::Memory& memory, std::span<const Patch> patches, std::vector<PageRun>& runs) {
  std::vector<proc::ReadRequest> requests;
  for (PageRun& run : runs) requests.push_back({patches[run.first].addr, run.bytes});
  if (memory.read_all(requests)) return;
  // Some page is gone (a library was unloaded): find out which.
  for (PageRun& run : runs) run.mapped = memory.read(patches[run.first].addr, run.bytes).has_value();
}

}  // namespace

Result<std::vector<size_t>> write_text(proc::Memory& memory, std::span<const Patch> patches,
                                       Direction direction) {
  std::vector<PageRun> runs = split_by_page(patches);
  read_runs(memory, patches, runs);
  std::vector<size_t> foreign;
  for (PageRun& run : runs) {
    const TargetAddr base = patches[run.first].addr;
    bool changed = false;
    for (size_t i = run.first; i < run.last; ++i) {
      const Patch& patch = patches[i];
      const auto& expected = direction == Direction::kInstall ? patch.original : patch.jump;
      const auto& wanted = direction == Direction::kInstall ? patch.jump : patch.original;
      const auto at = run.bytes.begin() + static_cast<ptrdiff_t>(patch.addr - base);
      if (run.mapped && std::equal(expected.begin(), expected.end(), at)) {
        std::copy(wanted.begin(), wanted.end(), at);
        changed = true;
      } else if (!run.mapped || !std::equal(wanted.begin(), wanted.end(), at)) {
        foreign.push_back(i);
      }
    }
    if (changed) TRY_OK(memory.write(base, run.bytes));
  }
  return foreign;
}

}  // namespace blip::probe
