// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "probe/arm/instrumentation.h"
#include "probe/code/module.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "unwind/arena.h"
#include "unwind/stacks.h"

namespace blip::session {

// The unwind tables of a process's code, where walks up its stacks find them (docs/design/backtraces.md).
class UnwindTables {
 public:
  // Reads the files, which takes some milliseconds for each. `vdso`: the process has one.
  UnwindTables(std::span<const probe::Module> modules, std::optional<probe::Module> vdso);

  static constexpr unwind::StackTableSize kStacks{
      .slots = 1 << 16, .frames = 1 << 20, .depth = abi::kMaxStackDepth};

  // Bytes for the tables, and for those of libraries that come later.
  uint64_t room() const;
  // Once: nobody uses the memory yet. It outlives this.
  Status fill(const probe::UnwindMemory& memory);
  // Bytes of unwind information that an update may read; files with more are left for the next time, and
  // backtraces end there until then. While somebody waits: some 20 ms.
  static constexpr uint64_t kAll = UINT64_MAX, kWhileWaiting = 1 << 20;
  // One file that was left, however large.
  static constexpr uint64_t kNextFile = kAll - 1;

  // These are the modules now, and this is blip's own code. An error: there is no room for the tables of
  // some, where backtraces will end; the others have theirs.
  Status update(std::span<const probe::Module> modules, std::span<const AddrRange> pads,
                uint64_t most = kAll);
  // True if the last update left something undone.
  bool is_incomplete() const { return is_incomplete_; }

  const std::optional<probe::Module>& vdso() const { return vdso_; }

 private:
  using Tables = std::vector<unwind::SegmentTable>;

  Status place(const void* file, const Tables& tables);
  bool is_put_off(const probe::Module& module);
  Status add_loaded(const probe::Module& module, std::vector<unwind::LoadedSegment>& list);
  Status add_pads(std::span<const AddrRange> pads, std::vector<unwind::LoadedSegment>& list);

  std::vector<probe::Module> modules_;  // at the start
  std::optional<probe::Module> vdso_;
  std::map<const void*, Tables> made_;  // by file, until they are in the arena
  std::map<const void*, std::vector<unwind::PlacedTable>> placed_;
  std::vector<probe::Module> kept_;  // their files' identities are keys
  std::optional<unwind::PlacedTable> pads_;
  std::optional<unwind::TableArena> arena_;
  uint64_t left_ = 0;  // that this update may read
  bool is_incomplete_ = false;
};

// The process's vDSO, as it has it mapped.
std::optional<probe::Module> find_vdso(const proc::Memory& memory, std::span<const proc::Map> maps);

}  // namespace blip::session
