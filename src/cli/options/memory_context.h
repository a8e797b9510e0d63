// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/plan/options.h"

namespace blip::cli {

// TYPE:NAME:ADDR, a value at an address: int:counter:0x404040, string:version:server_version,
// bytes[16]:key:libfoo.so:session_key+8.
Result<session::MemoryContext> parse_memory_context(std::string_view text);

// All that TYPE may be; bytes[N] stands for every N.
std::vector<std::string_view> memory_types();

}  // namespace blip::cli
