// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/error.h"
#include "base/result.h"
#include "proc/files/memory.h"
#include "ring/first_room.h"

namespace blip::probe {

// The memory of a trace, as blip and as the target see it.
struct RegionView {
  int fd = -1;              // of the memfd
  uint8_t* here = nullptr;  // blip's mapping
  TargetAddr there;
};

// Brings pages that have memory into the target's page tables, from outside: it does not stop. What cannot be
// brought in costs the first hit there a page fault.
void fault_in(const proc::Memory& memory, AddrRange range);

// Memory for a part of the region. blip gets it, and pays for it, and not the target.
Status allocate(int fd, uint64_t offset, uint64_t size);

// Gets the rest of the rings' memory while the target is traced already, the fullest ring first, in an OS
// thread of its own. The region, the file and the target's memory must outlive it.
class RingFiller {
 public:
  RingFiller(const abi::Geometry& geometry, const ring::FirstRoom& room, std::vector<unsigned> rings,
             const RegionView& region, const proc::Memory& target);
  ~RingFiller() { stop(); }

  // What is missing then stays so, and complete() false.
  void stop();
  const std::atomic<bool>& complete() const { return complete_; }
  // Set once the memory could not be had.
  std::optional<Error> error() const;

 private:
  struct Growing {
    unsigned ring;
    uint64_t end;  // what is below it has memory
  };

  Status fill_all();
  Status fill_next();
  Status fill(unsigned ring, uint64_t begin, uint64_t end);
  uint64_t left_in(const Growing& growing) const;
  abi::RingControl& control(unsigned ring) const;

  const abi::Geometry geometry_;
  const ring::FirstRoom room_;
  std::vector<Growing> rings_;
  const RegionView region_;
  const proc::Memory& target_;
  std::atomic<bool> complete_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> failed_{false};
  std::optional<Error> error_;  // written before failed_
  std::thread thread_;
};

}  // namespace blip::probe
