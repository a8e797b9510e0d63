// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::x86 {

inline constexpr uint32_t kCloneNumber = 56;
inline constexpr uint32_t kForkNumber = 57;
inline constexpr uint32_t kVforkNumber = 58;
inline constexpr uint32_t kClone3Number = 435;

// `mov eax, number; syscall`: a system call that blip may watch by leading its first five bytes into a pad.
struct SyscallSite {
  TargetAddr addr;      // of the mov, 5 bytes; the syscall is at addr + 5, what follows it at addr + 7
  uint32_t number = 0;  // of the call
  bool flags_dead_after = false;  // the code behind writes all status flags before it reads one
  // musl's clone(): `mov %rcx, (%rsi); syscall`, 5 bytes, with the number in eax by then.
  bool stores_argument = false;

  TargetAddr syscall_at() const { return addr + (stores_argument ? 3 : 5); }
  TargetAddr end() const { return syscall_at() + 2; }
};

// Those that make a process or a thread (the numbers above), in `text` at `base`, in order of address.
// `after_piece` is called after each megabyte.
std::vector<SyscallSite> find_clone_sites(std::span<const uint8_t> text, TargetAddr base,
                                          const std::function<void()>& after_piece = {});

// Finds musl's clone(), which is written by hand: the number is no part of a mov there.
std::optional<SyscallSite> find_musl_clone(std::span<const uint8_t> text, TargetAddr base);

// The same for one system call, whatever its number.
std::vector<SyscallSite> find_syscall_sites(std::span<const uint8_t> text, TargetAddr base, uint32_t number);

// The same for one of several, with the `syscall` at `at`, a place of find_syscall_bytes().
std::optional<SyscallSite> syscall_site_at(std::span<const uint8_t> text, TargetAddr base, TargetAddr at,
                                           std::span<const uint32_t> numbers);

// Wherever the bytes of a `syscall` instruction are, be it one or a part of another one.
std::vector<TargetAddr> find_syscall_bytes(std::span<const uint8_t> text, TargetAddr base);

}  // namespace blip::x86
