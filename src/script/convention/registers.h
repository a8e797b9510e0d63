// SPDX-License-Identifier: MIT
// Names of x86-64's registers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blip::script {

// In encoding order.
inline constexpr std::array<std::string_view, 16> kGeneralRegisters = {
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

struct RegisterPart {
  uint64_t number = 0;  // in encoding order
  uint64_t size = 8;    // bytes
  uint64_t shift = 0;   // bits: of ah, bh, ch, dh
};

// rax eax ax al ah ... r15 r15d r15w r15b
std::optional<RegisterPart> general_register(std::string_view name);
// xmm0 ... xmm15
std::optional<uint64_t> vector_register(std::string_view name);

}  // namespace blip::script
