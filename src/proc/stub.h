// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "proc/thread.h"

namespace blip::proc {

inline constexpr uint64_t kStubSize = 48;
inline constexpr uint64_t kStubCall = 13;                            // where its `syscall` is
inline constexpr uint64_t kStubReturn = kStubCall + kSyscallLength;  // and where the thread is behind it
inline constexpr uint64_t kRedZone = 128;

// A system call that the stub makes: it pops all of it, lowest address first, and stores what the kernel says
// over `more`.
struct StubCall {
  uint64_t rax = 0, rdi = 0, rsi = 0, rdx = 0, r10 = 0, r8 = 0, r9 = 0;
  uint64_t more = 1;
};

// Follows the calls; with it the thread becomes as it was. The stub knows it by `more`.
struct StubFrame {
  uint64_t rax, rdi, rsi, rdx, r10, r8, r9;
  uint64_t more = 0;
  uint64_t rcx, r11, rflags, rsp;
};

// The state in which user code goes on after an interrupted thread ran the stub: the kernel's restart of
// system calls is done here, because the kernel will not do it once other code has run.
Registers resume_state(const Registers& stopped);

StubFrame make_stub_frame(const Registers& resume);
std::array<uint8_t, kStubSize> make_stub(uint64_t resume_rip);
bool is_stub(std::span<const uint8_t> bytes);

// The place of a thread stopped in the stub, by the offset of its rip. Nullopt if no instruction of the stub
// begins there.
struct StubPlace {
  size_t popped = 0;      // words, of the call or frame at hand
  bool in_frame = false;  // it is certain that this is the frame, and not a call
};
std::optional<StubPlace> place_in_stub(uint64_t offset);

// The number of calls, of those that begin at `first`, that such a thread has made. At kStubReturn the last
// one is among them, and its result is still in rax.
std::optional<size_t> calls_made(uint64_t offset, uint64_t rsp, uint64_t first);

uint64_t resume_rip_of(std::span<const uint8_t> stub);

}  // namespace blip::proc
