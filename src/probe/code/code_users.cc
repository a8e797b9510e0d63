// SPDX-License-Identifier: MIT
#include "probe/code/code_users.h"

#include <algorithm>

#include "base/parallel.h"
#include "probe/code/every_instruction.h"

namespace blip::probe {
namespace {

constexpr size_t kPiecesPerTask = 256;

}  // namespace

CodeUsers::CodeUsers(const Module& module, const Pieces& pieces) {
  struct Found {
    std::vector<FileAddr> called;
    std::vector<Jump> jumps;
  };
  const std::vector<elf::Function>& all = pieces.all();
  std::vector<Found> found(all.size() / kPiecesPerTask + 1);
  parallel_pieces(all.size(), kPiecesPerTask, [&](size_t begin, size_t end) {
    Found& mine = found[begin / kPiecesPerTask];
    for (size_t i = begin; i < end; ++i) {
      const elf::Function& f = all[i];
      // Bytes that two functions claim belong to the second. Files may let them overlap as they like.
      const FileAddr next = i + 1 < all.size() ? all[i + 1].addr : f.addr + f.size;
      const auto bytes = module.file().bytes({f.addr, std::min(f.addr + f.size, next)});
      for_each_instruction(bytes, module.to_target(f.addr), [&](const x86::Insn& insn) {
        if (insn.lea_width && insn.rip_relative) mine.called.push_back(module.to_file(insn.rip_target));
        if (!insn.target) return;
        const FileAddr target = module.to_file(*insn.target);
        if (insn.flow == x86::Flow::kCall) {
          mine.called.push_back(target);
        } else if (!f.range().contains(target)) {
          mine.jumps.push_back({target, module.to_file(insn.addr), f.addr});
        }
      });
    }
  });
  for (const Found& f : found) {
    called_.insert(called_.end(), f.called.begin(), f.called.end());
    jumps_.insert(jumps_.end(), f.jumps.begin(), f.jumps.end());
  }
  std::sort(called_.begin(), called_.end());
  called_.erase(std::unique(called_.begin(), called_.end()), called_.end());
  std::sort(jumps_.begin(), jumps_.end(), [](const Jump& a, const Jump& b) { return a.target < b.target; });
}

bool CodeUsers::is_called(FileAddr address) const {
  return std::binary_search(called_.begin(), called_.end(), address);
}

std::vector<FileAddr> CodeUsers::jumpers_into(FileRange code) const {
  auto jump = std::lower_bound(jumps_.begin(), jumps_.end(), code.begin,
                               [](const Jump& j, FileAddr a) { return j.target < a; });
  std::vector<FileAddr> jumpers;
  for (; jump != jumps_.end() && jump->target < code.end; ++jump)
    if (!code.contains(jump->from)) jumpers.push_back(jump->piece);
  std::sort(jumpers.begin(), jumpers.end());
  jumpers.erase(std::unique(jumpers.begin(), jumpers.end()), jumpers.end());
  return jumpers;
}

bool CodeUsers::jumps_inside(FileRange from, FileRange to) const {
  auto jump = std::upper_bound(jumps_.begin(), jumps_.end(), to.begin,
                               [](FileAddr a, const Jump& j) { return a < j.target; });
  for (; jump != jumps_.end() && jump->target < to.end; ++jump)
    if (from.contains(jump->from)) return true;
  return false;
}

}  // namespace blip::probe
