// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "base/addr.h"
#include "probe/code/module.h"
#include "proc/files/maps.h"

namespace blip::probe {

// What of a process can be read as long as the process itself does not take it away: nobody else can.
struct ReadableMemory {
  std::vector<AddrRange> ranges;  // ascending, apart
  TargetAddr heap_end{};          // 0: there is no heap
};

// Private memory: anonymous, and what `modules` have mapped, up to the end of their files.
ReadableMemory readable_memory(std::span<const proc::Map> maps, std::span<const Module> modules);

// Takes the holes (ascending) out of it.
std::vector<AddrRange> without(std::span<const AddrRange> ranges, std::span<const AddrRange> holes);

}  // namespace blip::probe
