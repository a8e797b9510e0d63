// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace blip::cli {

// Sequences of texts are structures in events: of their size and the first elements (script/presenter.cc). By
// the names of the first two members; in a trace "[0]" is an identifier.
inline bool is_text_list(std::string_view first, std::string_view second) {
  return first == "size" && (second == "[0]" || second == "_0_");
}

// Rust's enums are structures in events: the name of the one that is there, and then all of them. Only that
// one is shown.
inline constexpr std::string_view kVariant = "variant";

}  // namespace blip::cli
