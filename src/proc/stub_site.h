// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"

namespace blip::proc {

// Bytes of an executable mapping that are never executed nor read by the program, and what stood there.
struct StubSite {
  TargetAddr addr;
  std::vector<uint8_t> original;
};

// Looks for kStubSize bytes between the end of a text segment and the end of its last page: in the executable
// first, then libc, then any module. A stub left there by a blip that was killed does not count as original.
Result<StubSite> find_stub_site(const Memory& memory, std::span<const Map> maps);

}  // namespace blip::proc
