// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/addr.h"
#include "x86/code_writer.h"

namespace blip::x86 {

inline constexpr uint64_t kJumpSize = 5;       // jmp rel32
inline constexpr uint64_t kShortJumpSize = 2;  // jmp rel8
inline constexpr uint64_t kMaxJumpPrefixes = 3;

struct JumpBytes {
  std::array<uint8_t, kJumpSize + kMaxJumpPrefixes> bytes{};
  uint8_t size = 0;

  std::span<const uint8_t> span() const { return {bytes.data(), size}; }
};

inline constexpr uint8_t kJumpPrefix = 0x26;  // es: 64-bit mode ignores it

// jmp rel32 behind redundant prefixes. Nothing if `to` is too far.
inline std::optional<JumpBytes> near_jump(TargetAddr from, TargetAddr to, uint64_t prefixes = 0) {
  if (prefixes > kMaxJumpPrefixes) return std::nullopt;
  const auto distance = displacement(from + prefixes + kJumpSize, to);
  if (!distance) return std::nullopt;
  JumpBytes jump;
  for (uint64_t i = 0; i < prefixes; ++i) jump.bytes[i] = kJumpPrefix;
  jump.bytes[prefixes] = 0xe9;  // jmp rel32
  std::memcpy(&jump.bytes[prefixes + 1], &*distance, sizeof *distance);
  jump.size = static_cast<uint8_t>(prefixes + kJumpSize);
  return jump;
}

// jmp rel8.
inline std::optional<JumpBytes> short_jump(TargetAddr from, TargetAddr to) {
  const auto distance = static_cast<int64_t>(to - (from + kShortJumpSize));
  if (distance != static_cast<int8_t>(distance)) return std::nullopt;
  JumpBytes jump;
  jump.bytes[0] = 0xeb;
  jump.bytes[1] = static_cast<uint8_t>(distance);
  jump.size = kShortJumpSize;
  return jump;
}

}  // namespace blip::x86
