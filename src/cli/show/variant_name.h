// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace blip::cli {

// Rust's enums are structures in events: the name of the one that is there, and then all of them. Only that
// one is shown.
inline constexpr std::string_view kVariant = "variant";

}  // namespace blip::cli
