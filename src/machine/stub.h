// SPDX-License-Identifier: MIT
// The code that makes system calls in a stopped thread and then restores the thread by itself, so that it needs no tracer
// that lives. The bytes, and the order in which they take the registers off the stack, are the processor's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "machine/thread_registers.h"

namespace blip::machine {

inline constexpr uint64_t kStubSize = 48;
extern const uint64_t kStubCall;    // offset of the instruction that makes the call
extern const uint64_t kStubReturn;  // offset at which the thread is behind it

// A system call that the stub makes: it pops all of it, lowest address first, and stores what the kernel says over
// `more`.
struct StubCall {
  uint64_t number = 0;
  std::array<uint64_t, 6> arguments{};
  uint64_t more = 1;
};

// Follows the calls; with it the thread becomes as it was. The stub knows it by `more`.
struct StubFrame {
  StubCall registers{.more = 0};  // those that hold a call
  std::array<uint64_t, 4>
      others{};  // what else a system call or the stub changes; the stack pointer comes last
};

// The state in which user code goes on after an interrupted thread ran the stub: the kernel's restart of system calls is
// done here, because the kernel will not do it once other code has run.
ThreadRegisters resume_state(const ThreadRegisters& stopped);

StubFrame make_stub_frame(const ThreadRegisters& resume);
ThreadRegisters with_frame(ThreadRegisters registers, const StubFrame& frame);
std::array<uint8_t, kStubSize> make_stub(uint64_t resume_pc);
bool is_stub(std::span<const uint8_t> bytes);

// The place of a thread stopped in the stub, by the offset of its pc. Nullopt if no instruction of the stub begins there.
struct StubPlace {
  size_t popped = 0;      // words, of the call or frame at hand
  bool in_frame = false;  // it is certain that this is the frame, and not a call
};
std::optional<StubPlace> place_in_stub(uint64_t offset);

// The number of calls, of those that begin at `first`, that such a thread has made. At kStubReturn the last one is among
// them, and its result is still in its register.
std::optional<size_t> calls_made(uint64_t offset, uint64_t sp, uint64_t first);

uint64_t resume_pc_of(std::span<const uint8_t> stub);

}  // namespace blip::machine
