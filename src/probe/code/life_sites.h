// SPDX-License-Identifier: MIT
// Finds where a program ends threads and processes, or becomes another one: docs/design/lifecycle.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probe/code/module.h"
#include "probe/code/site.h"

namespace blip::probe {

// System calls, x86-64.
inline constexpr uint32_t kExecveNumber = 59;
inline constexpr uint32_t kExitNumber = 60;
inline constexpr uint32_t kExitGroupNumber = 231;
inline constexpr uint32_t kExecveatNumber = 322;

// A `syscall` instruction that makes one of these calls and no other; whoever comes there has a stack.
struct LifeSite {
  size_t module = 0;  // index into the modules
  uint32_t number = 0;
  Point point;
};

// Those of the C library, be it linked in or a library of its own. Calls by syscall(), or with a number that
// is not known, are not among them.
std::vector<LifeSite> find_life_sites(std::span<const Module> modules);

}  // namespace blip::probe
