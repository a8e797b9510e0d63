// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace blip {

// Behind the last slash.
inline std::string_view basename_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace blip
