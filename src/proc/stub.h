// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "proc/thread.h"

namespace blip::proc {

inline constexpr uint64_t kStubSize = 32;
inline constexpr uint64_t kRedZone = 128;

// What the stub pops after its system call, in this order, lowest address first.
struct StubFrame {
  uint64_t rax, rdi, rsi, rdx, r10, r8, r9, rcx, r11, rflags, rsp;
};

// The state in which user code goes on after an interrupted thread ran the stub: the kernel's restart of
// system calls is done here, because the kernel will not do it once other code has run.
Registers resume_state(const Registers& stopped);

StubFrame make_stub_frame(const Registers& resume);
std::array<uint8_t, kStubSize> make_stub(uint64_t resume_rip);
bool is_stub(std::span<const uint8_t> bytes);

// For a thread found inside a stub whose tracer has died: how many words of the frame it has popped, by the
// offset of its rip. None: no instruction of the stub begins there.
std::optional<size_t> words_popped_at(uint64_t offset);
uint64_t resume_rip_of(std::span<const uint8_t> stub);

}  // namespace blip::proc
