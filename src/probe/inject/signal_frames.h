// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/thread.h"

namespace blip::probe {

// The code to which a signal handler will return.
struct InterruptedCode {
  TargetAddr pc;
  TargetAddr sp;
};

// The signal frames on the stacks of stopped threads. Made for a thousand of them: many stacks are read in
// one system call. Arguments must outlive it.
class SignalFrames {
 public:
  SignalFrames(std::span<const proc::Thread> threads, const proc::Memory& memory,
               std::span<const proc::Map> maps);

  // Returns the code that handlers of threads[i] interrupted, one per frame. Fails if a stack cannot be
  // searched: then anything may be on it.
  Result<std::vector<InterruptedCode>> interrupted(size_t i);

 private:
  struct Stack {
    AddrRange range;                 // empty: no memory
    std::span<const uint8_t> bytes;  // empty: not read ahead
  };

  // A frame on an alternate stack, which counts once its thread turns out to be on that stack.
  struct Doubtful {
    AddrRange stack;
    InterruptedCode code;
  };

  void read_ahead(size_t first);
  Status search(const Stack& stack);
  void scan(std::span<const uint8_t> stack, TargetAddr begin);
  void take(InterruptedCode code);
  bool take_doubtful();
  bool is_return_to_restorer(TargetAddr restorer);
  void add_stack(uint64_t rsp);

  std::span<const proc::Thread> threads_;
  const proc::Memory& memory_;
  std::span<const proc::Map> maps_;
  std::unique_ptr<uint8_t[]> buffer_;
  size_t first_ahead_ = 0;
  std::vector<Stack> ahead_;  // the stacks that threads_ from first_ahead_ on are on
  std::optional<TargetAddr> known_restorer_;
  // The stacks of the thread that is being searched.
  std::vector<uint64_t> stacks_;  // further ones
  std::vector<AddrRange> searched_;
  std::vector<InterruptedCode> found_;
  std::vector<Doubtful> doubtful_;
};

}  // namespace blip::probe
