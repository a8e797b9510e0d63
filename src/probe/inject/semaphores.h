// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "abi/semaphores.h"
#include "base/addr.h"
#include "base/result.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"

namespace blip::probe {

// Raises and lowers the semaphores of static marks in one process, and remembers in the process which ones it has raised.
class Semaphores {
 public:
  // `table`: see abi/semaphores.h; may be empty. The memory outlives this.
  Semaphores(proc::Memory& memory, AddrRange table) : memory_(memory), table_(table) {}

  // All threads are stopped. Each that is not raised yet counts one more listener. Returns how many could not be raised: they are
  // in no writable memory of a file, or there is no room.
  Result<size_t> raise(std::span<const TargetAddr> semaphores, std::span<const proc::Map> maps);
  // All threads are stopped. What has gone, or was replaced by another file, is left alone, and so is a word that is 0 already,
  // because somebody else has lowered it. Returns how many of those there are.
  Result<size_t> lower(std::span<const proc::Map> maps);
  // A library has gone.
  Status forget(AddrRange library);

 private:
  Result<std::vector<abi::SemaphoreEntry>> read_table() const;
  Status put(size_t index, const abi::SemaphoreEntry& entry);
  Result<bool> add_to(TargetAddr semaphore, int amount);

  proc::Memory& memory_;
  const AddrRange table_;
};

}  // namespace blip::probe
