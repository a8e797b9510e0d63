// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/addr.h"
#include "base/result.h"
#include "proc/files/memory.h"

namespace blip::probe {

// Calls that were entered in a process, but not left: what its shadow memory holds (abi/shadow.h). Those that
// longjmp left without anybody having noticed are among them.
class OpenCalls {
 public:
  // `shadow` is the memory's address in the stopped process; nothing in it is trusted. None: it is gone.
  static std::optional<OpenCalls> read(const proc::Memory& memory, TargetAddr shadow, uint32_t class_count);

  // Also those of a process that cannot be asked any more.
  void know_nothing() { known_ = false; }
  OpenCalls& operator+=(const OpenCalls& other);

  // The open calls of one class; none if they are not known.
  std::optional<uint64_t> of(uint32_t class_id) const;

 private:
  std::map<uint32_t, uint64_t> by_class_;
  bool known_ = true;
};

}  // namespace blip::probe
