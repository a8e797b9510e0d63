// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

namespace blip::cli {

// The candidate that `word` was probably meant to be: at most a third of its letters wrong. Empty if none.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace blip::cli
