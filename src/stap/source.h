// SPDX-License-Identifier: MIT
// Texts that are parsed, and places in them.
#pragma once

#include <string>
#include <string_view>

#include "script/types/diagnostics.h"

namespace blip::stap {

// The user's script, or a file of the tapset. Who parses it keeps it where it is.
struct Source {
  std::string name;  // a path, or "<input>"
  std::string text;
  bool is_tapset = false;
};

struct Spot {
  const Source* source = nullptr;
  script::Range range{};
};

// "foo.stp:3:9"
std::string describe(const Spot& spot);
// "foo.stp:3:9: MESSAGE", with the line underlined.
Error error_at(const Spot& spot, std::string_view message);

}  // namespace blip::stap
