// SPDX-License-Identifier: MIT
#include "session/trampoline_room.h"

#include <algorithm>

#include "probe/plan.h"

namespace blip::session {

namespace {

constexpr size_t kShare = 4;  // of what the process has left

}  // namespace

x86::TrampolineSpace room_for_trampolines(std::span<const proc::Map> maps) {
  const size_t most = proc::max_map_count();
  const size_t left = most > maps.size() ? most - maps.size() : 0;
  return x86::TrampolineSpace(proc::free_ranges(maps), std::min(probe::kMaxTrampolinePages, left / kShare));
}

}  // namespace blip::session
