// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/addr.h"

namespace blip::x86 {

// The instruction at the start of `bytes`, which lie at `at`, as objdump writes it: "mov %rsp, %rbp". Empty
// if they are none.
std::string instruction_text(std::span<const uint8_t> bytes, TargetAddr at);

}  // namespace blip::x86
