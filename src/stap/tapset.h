// SPDX-License-Identifier: MIT
// The scripts of the tapset, which are compiled in: tapset/*.stp.
#pragma once

#include <span>
#include <string_view>

namespace blip::stap {

struct TapsetFile {
  std::string_view name, text;
};

std::span<const TapsetFile> tapset();

}  // namespace blip::stap
