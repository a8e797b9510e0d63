// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace blip::session {

// Pads write this record when a thread or process begins, ends or becomes another program.
struct LifeRecord {
  enum Kind : uint8_t { kThread, kProcess, kExit, kExitGroup, kExec };
  static constexpr size_t kKinds = 5;

  uint64_t time_ns = 0;
  Kind kind = kThread;
  pid_t root = 0;     // the traced process whose rings it was in, as blip sees it
  int32_t vpid = 0;   // whose memory it is about
  int32_t vtid = 0;   // 0: not known
  int64_t value = 0;  // of a process its parent, 0 or jit::kSharesMemory; of an exit its status
};

// The life records of all processes of a trace, as they come from the rings.
struct LifeRecords {
  uint16_t first_class = 0;  // one for each kind
  std::vector<LifeRecord> heard{};
};

}  // namespace blip::session
