// SPDX-License-Identifier: MIT
// Errors that show where they are in what the user wrote.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace blip::script {

// Bytes of the source, half-open.
struct Range {
  uint32_t begin = 0, end = 0;

  bool operator==(const Range&) const = default;
};

// kUsage: the message, the source's line, and a line that underlines the range: ^~~~
Error error_at(std::string_view source, Range range, std::string_view message);

// Why something cannot be; who knows where it stands makes an error_at() of it: see place_error().
Error refusal(std::string message);
// A refusal() becomes an error at the range; any other error has its place already.
Error place_error(std::string_view source, Range range, const Error& error);

// "a, b, c and 12 more": those most like `wanted` first, then sorted; each once.
std::string list_names(std::vector<std::string> names, std::string_view wanted);

}  // namespace blip::script
