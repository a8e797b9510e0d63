// SPDX-License-Identifier: MIT
#include "script/blocks/library.h"

#include <algorithm>

#include "script/ir/ir.h"

namespace blip::script {

const std::vector<LibraryFunction>& library() {
  static const std::vector<LibraryFunction> kAll = [] {
    std::vector<LibraryFunction> all;
    for (const auto& part : {text_functions(), world_functions(), systemtap_functions()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kAll;
}

uint32_t find_library_function(std::string_view name) {
  const auto& all = library();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  return found == all.end() ? kNone : static_cast<uint32_t>(found - all.begin());
}

}  // namespace blip::script
