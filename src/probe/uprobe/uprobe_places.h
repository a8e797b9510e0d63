// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

// A place where the kernel is to put a uprobe.
struct UprobePlace {
  std::string path;  // leads to the mapped file itself, whatever its name means by now
  uint64_t offset = 0;
  std::string refusal;  // not empty: no uprobe can go there, and why
};

// One per address. A place where the memory holds another instruction than the file is refused: the kernel
// would run the file's.
Result<std::vector<UprobePlace>> find_uprobe_places(const proc::Process& process, const proc::Memory& memory,
                                                    std::span<const TargetAddr> addresses);

}  // namespace blip::probe
