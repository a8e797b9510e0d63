// SPDX-License-Identifier: MIT
// Values of options. Messages name the value and what would be right; the caller puts the option's name in
// front.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace blip::cli {

// A decimal number between the limits, both included.
Result<uint64_t> parse_number(std::string_view text, uint64_t least, uint64_t most);

// A number with an optional suffix k, M or G (1024 based), either case.
Result<uint64_t> parse_size(std::string_view text);

// parse_size, a power of two between the limits.
Result<uint32_t> parse_power_of_two(std::string_view text, uint32_t least, uint32_t most);

// "10s", "500ms", "2m", "1h", "250us", "1.5s"; a plain number means seconds. Zero is refused.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);
// The same for short ones: a plain number means milliseconds.
Result<std::chrono::nanoseconds> parse_short_duration(std::string_view text);

}  // namespace blip::cli
