// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace blip::script {

// "basic_string" of "std::__cxx11::basic_string<char, ...>".
inline std::string_view bare_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

}  // namespace blip::script
