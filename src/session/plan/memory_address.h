// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "probe/code/module.h"

namespace blip::session {

// Returns the address that ADDR means in the process: a number (octal, decimal, hex), or
// [MODULE:]SYMBOL[+OFFSET] of a variable or a function. A symbol without MODULE is looked for in module
// `home` first, then in all others.
Result<uint64_t> memory_address(std::string_view text, std::span<const probe::Module> modules, size_t home);

}  // namespace blip::session
