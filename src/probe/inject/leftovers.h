// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "proc/remote_call.h"

namespace blip::probe {

struct LeftRegion;

// Memory of earlier blips that could not be taken away: somebody is still inside its pads. It does no harm,
// and another trace may be put beside it.
struct KeptMemory {
  std::vector<AddrRange> mappings;
  std::vector<TargetAddr> returns;  // where its pads lead back to, sorted: no place for the middle of a jump

  bool has(AddrRange mapping) const;
  bool returns_into(AddrRange bytes) const;
};

// What other blips had in a process, and what became of it.
struct Leftovers {
  bool found = false;
  size_t probes = 0;               // that were taken out
  std::vector<std::string> stays;  // why memory stays, for each trace that could not be removed
  KeptMemory kept;

  // For the user; nothing if there was nothing.
  std::optional<std::string> text() const;
};

// Is shown every region while nobody writes to it any more, before it goes; maybe more than once. If it
// fails, the region stays.
using RegionSaver = std::function<Status(const LeftRegion& region)>;

// Whose memory may be taken away besides that of blips that have ended.
enum class Owner { kIsDead, kMayBeThisBlip };

// Finds what another blip has in the process, by the names of its mappings and the header in them. One that
// still lives: kBusy, naming it. One that is dead: its probes and memory are taken away.
Result<Leftovers> clean_leftovers(const proc::Process& process, proc::Memory& memory,
                                  const RegionSaver& save = {}, Owner owner = Owner::kIsDead);

// True if the process maps memory of a blip, living or dead. Also false if blip may not look at the process.
bool has_blip_memory(pid_t pid);

// True if a living blip traces the process.
bool is_traced_by_blip(const proc::Process& process, const proc::Memory& memory);

// Takes away every descriptor and mapping of blip's but these, for an attempt that failed before anything was
// armed.
Status discard_unarmed(proc::RemoteCaller& caller, const proc::Process& process, const proc::Memory& memory,
                       const KeptMemory& kept);

}  // namespace blip::probe
