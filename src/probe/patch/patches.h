// SPDX-License-Identifier: MIT
// From pads to what is written into the text. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/addr.h"
#include "probe/patch/edit_set.h"
#include "probe/patch/pads.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

inline constexpr char kNeedsRefused[] = "the place it shares bytes with cannot be patched";

// A place that is led into a pad.
struct Patch {
  TargetAddr addr;
  TargetAddr pad;
  TargetAddr entry{};        // not 0: of the trampoline that leads to the pad
  TargetAddr springboard{};  // not 0: of the jump that a short one at addr leads to
  uint32_t pad_size = 0;
  uint8_t window = 0;                                 // bytes that may not be executed in place any more
  bool active = true;                                 // in the text, or about to be
  bool fresh = true;                                  // not in the text yet
  std::vector<std::pair<uint8_t, uint16_t>> heads{};  // window offset -> pad offset
  const PadJob* job = nullptr;                        // null: a system call, or another blip's
  bool trap = false;                                  // int3
  bool sets_action = false;                           // where the target calls rt_sigaction
  bool unmaps = false;                                // where it may take memory away
};

// All of a trace: patches sorted by address, and their edits.
struct PatchTable {
  std::vector<Patch> patches;
  EditSet edits;

  // The edits of active patches; of those that are not in the text yet.
  EditMask active() const;
  EditMask fresh() const;
  // Takes in the patches of another table, which share no bytes with the active ones here; the others are
  // forgotten.
  void merge(PatchTable other);
  // Takes the active patches of a range out of it; the others there are forgotten.
  PatchTable take(AddrRange range);
  // True if an active patch has to do with one of these bytes.
  bool touches(AddrRange bytes) const;
};

struct PatchInput {
  std::span<const PadJob> jobs;  // sorted by address
  std::span<const x86::SyscallSite> syscall_sites;
  std::span<const BuiltPad> pads;
  // The byte that the file has for an address.
  std::function<std::optional<uint8_t>(TargetAddr)> text;
};

struct MadePatches {
  PatchTable table;
  std::vector<std::pair<size_t, std::string>> refused;  // job, reason
  TargetAddr trap_stub{}, runtime{};                    // see BuiltArea
};

// A job without a pad among `pads` is no patch, and neither is what needs its bytes: those are refused here.
MadePatches make_patches(const PatchInput& input);

// Returns the bytes that the file has where the jump of a site goes.
std::array<uint8_t, abi::kJumpSize> first_instruction(const x86::SyscallSite& site);

// True if a window ends with the first instruction of a system call, which then needs no jump of its own.
bool covers(const x86::Rewrite& rewrite, const x86::SyscallSite& site);

}  // namespace blip::probe
