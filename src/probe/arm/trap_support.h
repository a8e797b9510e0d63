// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "probe/arm/batch.h"
#include "probe/code/module.h"
#include "probe/code/trap_sites.h"
#include "probe/patch/patches.h"
#include "proc/attachment.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

// Probes by int3: whether there can be any, and the handler that makes them work. See docs/design/traps.md.
class TrapSupport {
 public:
  TrapSupport(const proc::Process& process, proc::Memory& memory) : process_(process), memory_(memory) {}

  // Whether the sites have traps, and what stands against them.
  void plan(std::span<const Module> modules, const ModuleSites& sites);
  // Where the target asks for signal actions, if there may be traps.
  std::span<const x86::SyscallSite> action_sites() const { return actions_.sites; }
  // Takes those out of the batch that there cannot be.
  void refuse_planned(Batch& batch) const;
  static void refuse_all(Batch& batch, const std::string& reason);
  // Bytes of the target's memory.
  uint64_t memory_size(const Batch& batch) const;

  // The pads have been built.
  void use_code(const MadePatches& made);
  // True if some are to be armed. The edits that make them, and that watch the program's signal actions.
  bool any_in(const PatchTable& patches) const;
  static EditMask edits_of(const PatchTable& patches);

  // Both while all threads stand still, and where traps have memory: `table` is its address.
  // Why traps cannot be used now; empty: they can. It must be true until the first int3 is there.
  Result<std::string> find_obstacle(proc::Attachment& attachment, const std::vector<proc::Map>& maps,
                                    const PatchTable& patches, TargetAddr table) const;
  // The table is whole before the handler is there, and the handler before the first trap.
  Status start(proc::Attachment& attachment, const std::vector<proc::Map>& maps, const PatchTable& patches,
               TargetAddr table, TargetAddr gate);

 private:
  Result<std::string> find_masking_handler(proc::Attachment& attachment, const std::vector<proc::Map>& maps,
                                           TargetAddr table) const;

  const proc::Process& process_;
  proc::Memory& memory_;
  SigactionSites actions_;
  bool wanted_ = false;
  std::string refused_;        // why there will be none although they were planned
  TargetAddr stub_, runtime_;  // see BuiltArea
};

}  // namespace blip::probe
